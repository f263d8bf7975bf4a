/** Traces of nine runtimes as they are printed: what changes with every event, host, build and release is a parameter. */

/** What differs between two events of one fault. */
export interface Variant {
  readonly number: number;
  /** Where the program lies. */
  readonly root: string;
  readonly hash: string;
  readonly address: string;
  /** Calls of libraries, and how often a function has called itself. */
  readonly depth: number;
  readonly id: string;
}

const ROOTS = [
  "/app",
  "/srv/shop/releases/20260304101530",
  "/home/deploy/shop",
  "/var/task",
  "/opt/shop-2.1.0",
];

/** Twenty events of one fault. */
export const VARIANTS: readonly Variant[] = Array.from({ length: 20 }, (_, i) => ({
  number: 17 + i * 31,
  root: ROOTS[i % ROOTS.length] ?? "/app",
  hash: ((i + 1) * 2_654_435_761).toString(16).padStart(16, "0").slice(-16),
  address: `0x${(0x7f_00_00 + i * 4_096).toString(16).padStart(12, "0")}`,
  depth: i % 4,
  id: `order-${4711 + i * 13}`,
}));

const repeated = (count: number, line: (i: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => line(i));

type Trace = (variant: Variant, fault?: { readonly call?: string; readonly type?: string }) => string;

export const TRACES: Readonly<Record<string, Trace>> = {
  javascript: ({ number, root, depth, id }, { call = "charge", type = "CardError" } = {}) =>
    [
      `${type}: card of ${id} declined`,
      `    at ${call} (${root}/src/payments/card.js:${number}:${1 + depth})`,
      ...repeated(depth, (i) => `    at ${call} (${root}/src/payments/card.js:${number + i}:9)`),
      `    at async pay (file://${root}/src/pay.js:${number}:5)`,
      ...repeated(
        depth,
        (i) =>
          `    at Layer.handle [as handle_request] (${root}/node_modules/express/lib/router/layer.js:${95 + i}:5)`,
      ),
      "    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)",
    ].join("\n"),
  python: ({ number, root, depth, id }, { call = "charge", type = "CardError" } = {}) =>
    [
      "Traceback (most recent call last):",
      ...repeated(
        depth,
        (i) =>
          `  File "/usr/lib/python3.1${i}/site-packages/django/core/handlers/base.py", line ${i + 190}, in _get_response\n    response = wrapped(request)`,
      ),
      `  File "${root}/shop/pay.py", line ${number}, in pay`,
      "    charge(card)",
      ...repeated(
        1 + depth,
        () =>
          `  File "${root}/shop/payments/card.py", line ${number + 4}, in ${call}\n    raise CardError(order)`,
      ),
      `shop.errors.${type}: card of ${id} declined`,
    ].join("\n"),
  java: ({ number, depth, address, id }, { call = "charge", type = "CardException" } = {}) =>
    [
      `Exception in thread "pool-${number}-thread-${depth}" java.lang.RuntimeException: order ${id} failed`,
      `\tat com.example.shop.Pay.pay(Pay.java:${number})`,
      `\tat com.example.shop.Pay$$Lambda$${number}/${address}.run(Unknown Source)`,
      ...repeated(
        depth,
        (i) =>
          `\tat org.springframework.aop.framework.ReflectiveMethodInvocation.proceed(ReflectiveMethodInvocation.java:${18 + i})`,
      ),
      `\tat java.base/java.lang.Thread.run(Thread.java:${829 + depth})`,
      `Caused by: com.example.shop.${type}: card of ${id} declined`,
      `\tat com.example.shop.payments.Card.${call}(Card.java:${number + 2})`,
      `\tat com.example.shop.Pay.lambda$pay$${depth}(Pay.java:${number})`,
      `\t... ${1 + depth} more`,
    ].join("\n"),
  go: ({ number, root, depth, address, id }, { call = "Charge", type = "panic" } = {}) =>
    [
      `${type === "panic" ? "panic" : "fatal error"}: card of ${id} declined`,
      "",
      `goroutine ${number} [running]:`,
      `example.com/shop/payments.(*Card).${call}(${address}, {${address}, 0x${depth + 1}})`,
      `\t${root}/payments/card.go:${number} +0x${(number * 7).toString(16)}`,
      `example.com/shop.Pay(...)`,
      `\t${root}/pay.go:${number}`,
      ...repeated(
        depth,
        (i) =>
          `net/http.HandlerFunc.ServeHTTP(${address})\n\t/usr/local/go/src/net/http/server.go:${2136 + i} +0x29`,
      ),
      `created by net/http.(*Server).Serve in goroutine ${depth + 1}`,
      `\t/usr/local/go/src/net/http/server.go:3086 +0x5cb`,
    ].join("\n"),
  dotnet: ({ number, root, depth, id }, { call = "Charge", type = "CardException" } = {}) =>
    [
      `System.AggregateException: One or more errors occurred. (${id})`,
      ` ---> Shop.Payments.${type}: card of ${id} declined`,
      `   at Shop.Payments.Card.${call}(Order order) in ${root}/Payments/Card.cs:line ${number}`,
      ...repeated(depth, () => "   at System.Threading.Tasks.Task.Execute()"),
      "   --- End of inner exception stack trace ---",
      `   at Shop.Pay.<Run>d__${depth}.MoveNext() in ${root}/Pay.cs:line ${number}`,
      `   at Microsoft.AspNetCore.Mvc.Infrastructure.ActionMethodExecutor.Execute()`,
    ].join("\n"),
  ruby: ({ number, root, depth, id }, { call = "charge", type = "CardError" } = {}) =>
    [
      `${root}/lib/payments/card.rb:${number}:in \`${call}': card of ${id} declined (Shop::${type})`,
      `\tfrom ${root}/lib/pay.rb:${number}:in \`block in pay'`,
      ...repeated(
        depth,
        (i) => `\tfrom /usr/local/bundle/gems/rack-3.0.${i}/lib/rack/builder.rb:${i + 200}:in \`call'`,
      ),
      `\tfrom ${root}/bin/shop:${depth + 3}:in \`<main>'`,
    ].join("\n"),
  php: ({ number, root, depth, id }, { call = "charge", type = "CardException" } = {}) =>
    [
      `PHP Fatal error:  Uncaught Shop\\${type}: card of ${id} declined in ${root}/src/Payments/Card.php:${number}`,
      "Stack trace:",
      `#0 ${root}/src/Pay.php(${number}): Shop\\Payments\\Card->${call}(Object(Shop\\Order), ${number})`,
      ...repeated(
        depth,
        (i) =>
          `#${i + 1} ${root}/vendor/laravel/framework/src/Pipeline.php(${180 + i}): Illuminate\\Pipeline\\Pipeline->handle(Object(Closure))`,
      ),
      `#${depth + 1} ${root}/public/index.php(${depth + 40}): Shop\\Pay->run()`,
      `#${depth + 2} {main}`,
      `  thrown in ${root}/src/Payments/Card.php on line ${number}`,
    ].join("\n"),
  rust: ({ number, root, depth, hash, id }, { call = "charge", type = "panic" } = {}) =>
    [
      `thread '${type === "panic" ? "main" : type}' panicked at ${root}/src/payments/card.rs:${number}:9:`,
      `card of ${id} declined`,
      "stack backtrace:",
      "   0: rust_begin_unwind",
      `             at /rustc/${hash}/library/std/src/panicking.rs:${number}:5`,
      `   1: core::panicking::panic_fmt::h${hash}`,
      `   2: shop::payments::card::${call}::h${hash}`,
      `             at ${root}/src/payments/card.rs:${number}:9`,
      `   3: shop::pay::{{closure}}::h${hash}`,
      `             at ${root}/src/pay.rs:${number}:5`,
      ...repeated(depth, (i) => `   ${4 + i}: tokio::runtime::task::poll::h${hash}`),
    ].join("\n"),
  elixir: ({ number, depth, id }, { call = "charge", type = "CardError" } = {}) =>
    [
      `** (Shop.${type}) card of ${id} declined`,
      `    (shop 0.${depth}.1) lib/shop/payments/card.ex:${number}: Shop.Payments.Card.${call}/2`,
      `    (shop 0.${depth}.1) lib/shop/pay.ex:${number}: Shop.Pay.run/1`,
      ...repeated(
        depth,
        (i) => `    (phoenix 1.7.${i}) lib/phoenix/router.ex:${430 + i}: Phoenix.Router.__call__/5`,
      ),
      `    (stdlib 5.${depth}) proc_lib.erl:241: :proc_lib.init_p_do_apply/3`,
    ].join("\n"),
};
