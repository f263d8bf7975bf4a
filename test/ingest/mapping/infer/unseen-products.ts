import type { Right } from "../presets/payloads/payload.ts";

/** Invented payloads of products that no preset is for, and whose names the lists were not made with. */
export const UNSEEN: readonly { readonly product: string; readonly body: unknown; readonly right: Right }[] =
  [
    {
      product: "lograge (Rails)",
      body: '{"method":"GET","path":"/users/7","format":"html","controller":"UsersController","action":"show","status":200,"duration":58.33,"view":40.43,"db":15.26,"@timestamp":"2026-05-11T21:59:58.006Z","@version":"1","message":"[200] GET /users/7 (UsersController#show)"}',
      right: { timestamp: "@timestamp", message: "message", level: "status", service: "", host: "" },
    },
    {
      product: "Teleport audit",
      body: '{"ei":0,"event":"user.login","uid":"8c2f0ec8-8a0b-4b7b-9b0e-111111111111","code":"T1000W","time":"2026-05-11T21:59:58.123Z","cluster_name":"prod.example.com","user":"lee","success":false,"error":"invalid credentials","method":"local","addr.remote":"198.51.100.23:65123"}',
      right: { timestamp: "time", message: "event|error", level: "", service: "", host: "|cluster_name" },
    },
    {
      product: "HashiCorp Vault audit",
      body: '{"time":"2026-05-11T21:59:58.123456789Z","type":"response","auth":{"client_token":"hmac-sha256:ab","display_name":"approle","policies":["default"]},"request":{"id":"1f0e2d3c-0000-4000-8000-000000000000","operation":"read","path":"secret/data/ledger","remote_address":"192.0.2.4"},"response":{"mount_type":"kv"}}',
      right: {
        timestamp: "time",
        message: "type|request.path|request.operation",
        level: "",
        service: "",
        host: "",
      },
    },
    {
      product: "Consul, Nomad and Vault server logs (hclog)",
      body: '{"@level":"warn","@message":"heartbeat timeout reached, starting election","@module":"agent.server.raft","@timestamp":"2026-05-11T21:59:58.006123Z","last-leader-addr":"192.0.2.7:8300"}',
      right: {
        timestamp: "@timestamp",
        message: "@message",
        level: "@level",
        service: "@module",
        host: "",
      },
    },
    {
      product: "PostgreSQL jsonlog",
      body: '{"timestamp":"2026-05-11 21:59:58.006 UTC","user":"shop","dbname":"shop","pid":812,"remote_host":"192.0.2.9","session_id":"6460.32c","line_num":3,"ps":"INSERT","error_severity":"ERROR","state_code":"23505","message":"duplicate key value violates unique constraint","backend_type":"client backend"}',
      right: { timestamp: "timestamp", message: "message", level: "error_severity", service: "", host: "" },
    },
    {
      product: "MongoDB",
      body: '{"t":{"$date":"2026-05-11T23:59:58.006+02:00"},"s":"I","c":"NETWORK","id":22943,"ctx":"listener","msg":"Connection accepted","attr":{"remote":"192.0.2.9:51002","connectionCount":1}}',
      right: { timestamp: "t.$date", message: "msg", level: "", service: "", host: "" },
    },
    {
      product: "Elasticsearch server",
      body: '{"type":"server","timestamp":"2026-05-11T21:59:58,006Z","level":"WARN","component":"o.e.c.r.a.DiskThresholdMonitor","cluster.name":"main","node.name":"es-1","message":"high disk watermark exceeded","cluster.uuid":"abc","node.id":"def"}',
      right: {
        timestamp: "timestamp",
        message: "message",
        level: "level",
        service: "",
        host: "node.name",
      },
    },
    {
      product: "log4j2 JsonTemplateLayout (JsonLayout)",
      body: '{"instant":{"epochSecond":1778536798,"nanoOfSecond":6123000},"thread":"main","level":"ERROR","loggerName":"com.example.Ledger","message":"cannot open","endOfBatch":false,"threadId":1}',
      right: {
        timestamp: "instant.epochSecond",
        message: "message",
        level: "level",
        service: "",
        host: "",
      },
    },
    {
      product: "Spring Boot structured logging (GELF-like)",
      body: '{"version":"1.1","short_message":"Started in 2.1 s","timestamp":1778536798.006,"level":6,"_level_name":"INFO","_process_pid":812,"_process_thread_name":"main","host":"orders","_log_logger":"com.example.App"}',
      right: {
        timestamp: "timestamp",
        message: "short_message",
        level: "level|_level_name",
        service: "",
        host: "host",
      },
    },
    {
      product: "Slack audit",
      body: [
        {
          id: "0123a45b-6c7d-4000-8e12-3456789gh0i1",
          date_create: 1778536798,
          action: "user_login",
          actor: { type: "user", user: { id: "W123AB456", name: "Lee", email: "lee@example.com" } },
          context: {
            location: { type: "workspace", name: "Example" },
            ua: "Mozilla/5.0",
            ip_address: "198.51.100.23",
          },
        },
      ],
      right: { timestamp: "date_create", message: "action", level: "", service: "", host: "" },
    },
    {
      product: "AWS GuardDuty finding",
      body: {
        schemaVersion: "2.0",
        accountId: "123456789012",
        region: "eu-central-1",
        id: "16afba5c5c43e07c9e3e5e2e544e95df",
        type: "UnauthorizedAccess:EC2/SSHBruteForce",
        severity: 2,
        createdAt: "2026-05-11T21:59:58.006Z",
        updatedAt: "2026-05-11T22:09:58.006Z",
        title: "198.51.100.23 is performing SSH brute force attacks",
        description: "An instance is under attack.",
        service: { serviceName: "guardduty", count: 4 },
      },
      right: {
        timestamp: "createdAt",
        message: "title|description",
        level: "severity",
        service: "service.serviceName",
        host: "",
      },
    },
    {
      product: "AWS Lambda JSON logs",
      body: '{"timestamp":"2026-05-11T21:59:58.006Z","level":"ERROR","requestId":"79b4f56e-95b1-4643-9700-2807f4e68189","message":"cannot reach the ledger","function":"orders"}',
      right: { timestamp: "timestamp", message: "message", level: "level", service: "function", host: "" },
    },
    {
      product: "Azure App Service HTTP logs",
      body: '{"time":"2026-05-11T21:59:58.0061234Z","EventTime":"2026-05-11T21:59:58Z","category":"AppServiceHTTPLogs","resourceId":"/SUBSCRIPTIONS/1/SITES/SHOP","properties":"{\\"CsMethod\\":\\"GET\\"}","Host":"lw1sdlwk0001","operationName":"HTTP"}',
      right: {
        timestamp: "time|EventTime",
        message: "operationName|properties",
        level: "",
        service: "|category",
        host: "Host",
      },
    },
    {
      product: "Fastly (custom JSON)",
      body: '{"timestamp":"2026-05-11T21:59:58+0000","client_ip":"198.51.100.23","geo_country":"germany","host":"www.example.org","url":"/a?b=1","request_method":"GET","request_protocol":"HTTP/2","response_status":503,"response_reason":"Backend fetch failed","fastly_server":"cache-fra1234"}',
      right: {
        timestamp: "timestamp",
        message: "{}|response_reason",
        level: "response_status",
        service: "",
        host: "host|fastly_server",
      },
    },
    {
      product: "Airflow task log",
      body: '{"asctime":"2026-05-11 21:59:58,006","filename":"taskinstance.py","lineno":1332,"levelname":"INFO","message":"Marking task as SUCCESS","dag_id":"nightly","task_id":"load"}',
      right: { timestamp: "asctime", message: "message", level: "levelname", service: "", host: "" },
    },
    {
      product: "GitHub Actions runner (custom)",
      body: '{"Timestamp":"2026-05-11T21:59:58.0061234Z","Severity":"Warning","Component":"JobDispatcher","Machine":"runner-4","Text":"Job was requeued once"}',
      right: {
        timestamp: "Timestamp",
        message: "Text",
        level: "Severity",
        service: "Component",
        host: "Machine",
      },
    },
    {
      product: "Zoom operation log",
      body: {
        time: "2026-05-11T21:59:58Z",
        operator: "lee@example.com",
        category_type: "Account",
        action: "Update",
        operation_detail: "Changed the recording settings",
      },
      right: { timestamp: "time", message: "operation_detail|action", level: "", service: "", host: "" },
    },
    {
      product: "Twilio error webhook",
      body: {
        Timestamp: "2026-05-11T21:59:58Z",
        Level: "ERROR",
        Sid: "NO0123456789",
        AccountSid: "AC0123",
        Payload: '{"error_code":"11200"}',
        PayloadType: "application/json",
      },
      right: { timestamp: "Timestamp", message: "Payload|", level: "Level", service: "", host: "" },
    },
  ];
