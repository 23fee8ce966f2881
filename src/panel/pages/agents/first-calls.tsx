import { useSignal } from "@preact/signals";
import { serverUrl } from "../../data/api.ts";
import { Segments } from "../../ui/segments.tsx";
import { Code } from "../../ui/text/code.tsx";
import { curlOf } from "./curl.ts";

/** The first request to an agent, in several languages. */
const languages = {
  curl: (slug: string, key: string) => curlOf(slug, key, [{ role: "user", content: "Hello" }]),
  TypeScript: (slug: string, key: string) =>
    `import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${JSON.stringify(`${serverUrl}/v1`)}, apiKey: ${JSON.stringify(key)} });
const reply = await client.chat.completions.create({
  model: ${JSON.stringify(slug)},
  messages: [{ role: "user", content: "Hello" }],
});
console.log(reply.choices[0].message.content);`,
  Python: (slug: string, key: string) =>
    `from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(`${serverUrl}/v1`)}, api_key=${JSON.stringify(key)})
reply = client.chat.completions.create(
    model=${JSON.stringify(slug)},
    messages=[{"role": "user", "content": "Hello"}],
)
print(reply.choices[0].message.content)`,
} as const;

type Language = keyof typeof languages;

/** The first request to the agent, to copy. */
export function FirstCalls({ slug, apiKey }: { slug: string; apiKey: string }) {
  const chosen = useSignal<Language>("curl");
  return (
    <div class="form">
      <Segments
        label="Language"
        value={chosen.value}
        choices={(Object.keys(languages) as Language[]).map((value) => ({ value, label: value }))}
        onValue={(language) => {
          chosen.value = language;
        }}
      />
      <Code label={`First call in ${chosen.value}`} text={languages[chosen.value](slug, apiKey)} />
    </div>
  );
}
