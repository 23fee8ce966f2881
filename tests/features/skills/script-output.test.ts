import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/adapters/node/clock.ts";
import { threadedScripts } from "../../../src/adapters/node/scripts/pool.ts";
import { scrubber } from "../../../src/core/scrub/scrub.ts";
import { type LoadedSkill, skillTools } from "../../../src/features/skills/index.ts";
import { ScriptOutput } from "../../../src/features/skills/turn/tools.ts";
import { toolContext } from "../../turn/input.ts";

const secret = "canary-1f2e3d4c5b6a-canary";
const beginning = secret.slice(0, 6);
const silent = () => {};
const log = { debug: silent, info: silent, warn: silent, error: silent, child: () => log };

/** The output of a skill's only script, called as by a model, and scrubbed as by a turn. */
async function say(script: string): Promise<string> {
  const skill: LoadedSkill = {
    slug: "s",
    name: "S",
    description: "",
    content: "",
    version: "0.1.0",
    autoLoad: false,
    scripts: [{ file: "main.js", description: "", content: script }],
    requiredTools: [],
    missingEnv: [],
    missingTools: [],
    env: [{ skill: "s", key: "K", value: secret, sensitive: true, bounds: [] }],
  };
  const [, run] = skillTools([skill], "acme", threadedScripts({ clock: systemClock, log }));
  if (!run) throw new Error("There is no such tool");
  const args = run.validate({ skill: "s", file: "main.js", args: { key: "{{skill_env.s.K}}" } });
  const answer = await run
    .execute(args, toolContext())
    .then((value) => JSON.stringify(value))
    .catch((error: Error) => error.message);
  return scrubber([secret])(answer);
}

describe("the output of a script", () => {
  // Each of these is cut in the middle of the value.
  it.each([
    ["an error of it alone", "throw new Error(args.key.repeat(1_000))"],
    ["an error that is no Error", "throw args.key.repeat(1_000)"],
    ["an error of more than is taken", 'throw new Error("x".repeat(7_980) + args.key)'],
    ["an error of more than is given", 'throw new Error("x".repeat(15_980) + args.key)'],
    ["one log", "console.log(args.key.repeat(5_000))"],
    ["many logs", "for (let n = 0; n < 990; n += 1) console.log(args.key.repeat(3))"],
    ["a log that ends with it", "console.log('x'.repeat(65_520) + args.key)"],
    ["a log in base64", "console.log('x'.repeat(65_520) + 'Y2FuYXJ5LTFmMmUzZDRjNWI2YS1jYW5hcnk=')"],
    ["logs of an error", "console.log(args.key.repeat(5_000)); throw new Error('failed')"],
  ])("holds no part of a value where it is cut: %s", async (_, script) => {
    const said = await say(script);
    expect(said.length).toBeGreaterThan(100);
    expect(said).not.toContain(beginning);
    expect(said).not.toContain("Y2FuYX");
  });

  it("is otherwise left as it is", () => {
    const output = new ScriptOutput([secret]);
    expect(output.error(`ends with ${beginning}`)).toBe(`ends with ${beginning}`);
    expect(output.logs(["a", `ends with ${beginning}`])).toEqual(["a", `ends with ${beginning}`]);
    const long = "x".repeat(9_000);
    expect(output.error(`${long}`)).toBe("x".repeat(8_000));
    expect(output.logs([beginning, long, `${long}${beginning}`, "[cut]"])).toEqual([beginning, long, long, "[cut]"]);
    expect(new ScriptOutput([]).error(`${"x".repeat(7_999)}🙂`)).toBe(`${"x".repeat(7_999)}\ufffd`);
  });
});
