import { readableOn } from "./colours.ts";

const LIGHT = "#ffffff";
const DARK = "#14171a";
const ACCENT = "#1f4fd8";

/** Colours of states, each readable as text on its ground. */
export const STATE_COLOURS = {
  operational: { light: "#17713a", dark: "#5fd08a" },
  degraded: { light: "#8a5300", dark: "#f0b45a" },
  down: { light: "#b3221f", dark: "#ff8f87" },
  maintenance: { light: "#1f4fd8", dark: "#9db8ff" },
  unknown: { light: "#5c6470", dark: "#a4adb8" },
} as const;

/** The style of a page in the colours of its organisation, by day and by night. */
export function styleOf(accent: string = ACCENT): string {
  const colours = Object.entries(STATE_COLOURS)
    .map(([state, { light, dark }]) => `--${state}:light-dark(${light},${dark})`)
    .join(";");
  return `:root{color-scheme:light dark;--ground:light-dark(${LIGHT},${DARK});--text:light-dark(#1a1d21,#e8ebee);--quiet:light-dark(#555d68,#aab3be);--line:light-dark(#d9dde2,#363c43);--accent:light-dark(${readableOn(accent, LIGHT)},${readableOn(accent, DARK)});${colours}}
*{box-sizing:border-box}body *{unicode-bidi:isolate}
body{margin:0 auto;max-width:56rem;padding:1rem;background:var(--ground);color:var(--text);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
header{border-bottom:3px solid var(--accent);display:flex;flex-wrap:wrap;gap:.25rem 1rem;justify-content:space-between;align-items:baseline;padding-bottom:.5rem}
h1{font-size:1.5rem;margin:0}h2{font-size:1.2rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:0}
p{margin:.5rem 0}.quiet{color:var(--quiet);font-size:.9rem}
.state{font-weight:600}.operational{color:var(--operational)}.degraded{color:var(--degraded)}.down{color:var(--down)}.maintenance{color:var(--maintenance)}.unknown{color:var(--unknown)}
.banner,.notice{border:2px solid var(--degraded);border-radius:.4rem;padding:.6rem .8rem;margin:1rem 0}
.overall{border:2px solid;border-radius:.4rem;padding:.8rem 1rem;font-size:1.25rem;margin:1rem 0}main:only-child .overall{margin:0}.source{font-size:.9rem;font-weight:400;margin:.5rem 0 0}
.group{font-size:1.05rem;margin:1.25rem 0 0}.component{border-bottom:1px solid var(--line);padding:.75rem 0}
.line{display:flex;flex-wrap:wrap;gap:0 1rem;align-items:baseline}.line .state{margin-left:auto}
.bars{display:flex;gap:1px;list-style:none;margin:.4rem 0 0;padding:0;height:2rem;align-items:end;overflow:hidden}
.bars li{flex:1 1 0;min-width:0;height:100%;position:relative;overflow:hidden;border-radius:1px;background:var(--operational);font-size:1px;color:transparent}
.bars .u{background:var(--line);height:35%}.bars .g{background:var(--degraded);height:75%}.bars .d{background:repeating-linear-gradient(45deg,var(--down) 0 3px,var(--ground) 3px 4px);height:100%;outline:1px solid var(--down);outline-offset:-1px}
.bars b{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
article{border-left:3px solid var(--line);padding-left:.8rem;margin:1rem 0}
article ol{list-style:none;margin:.5rem 0 0;padding:0}article li{margin:.5rem 0}.body{white-space:pre-line;margin:.1rem 0}
form{display:grid;gap:.6rem;max-width:26rem}fieldset{border:1px solid var(--line);border-radius:.4rem;max-height:16rem;overflow:auto}
fieldset label{display:flex;gap:.5rem;align-items:baseline;min-height:1.75rem}
input:not([type=checkbox]){font:inherit;padding:.5rem;width:100%;color:inherit;background:var(--ground);border:1px solid var(--quiet);border-radius:.3rem}
button{font:inherit;font-weight:600;padding:.55rem 1rem;color:var(--ground);background:var(--accent);border:0;border-radius:.3rem;cursor:pointer}
summary{cursor:pointer;min-height:1.75rem}a{color:var(--accent)}:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
footer{margin-top:2rem;border-top:1px solid var(--line);padding-top:.75rem;display:flex;flex-wrap:wrap;gap:1rem}footer a{display:inline-block;padding:.25rem 0}`;
}
