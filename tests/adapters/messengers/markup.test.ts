import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { slackMrkdwn } from "../../../src/adapters/messengers/slack/mrkdwn.ts";
import { telegramHtml } from "../../../src/adapters/messengers/telegram/html.ts";
import { whatsAppText } from "../../../src/adapters/messengers/whatsapp/text.ts";
import { problemOf } from "../../messengers/telegram-server.ts";

interface Case {
  what: string;
  markdown: string;
  telegram: string;
  slack: string;
  whatsapp: string;
}

const cases: Case[] = [
  {
    what: "emphasis",
    markdown: "**bold** *soft* ~~gone~~ `a<b`",
    telegram: "<b>bold</b> <i>soft</i> <s>gone</s> <code>a&lt;b</code>",
    slack: "*bold* _soft_ ~gone~ `a&lt;b`",
    whatsapp: "*bold* _soft_ ~gone~ `a<b`",
  },
  {
    what: "headings",
    markdown: "# The **whole** heading\n\ntext",
    telegram: "<b>The whole heading</b>\n\ntext",
    slack: "*The whole heading*\n\ntext",
    whatsapp: "*The whole heading*\n\ntext",
  },
  {
    what: "links",
    markdown: 'See [the page](https://a.example/?a=1&b="2") or https://b.example or <me@c.example>',
    telegram:
      'See <a href="https://a.example/?a=1&amp;b=&quot;2&quot;">the page</a> or https://b.example or me@c.example',
    slack: 'See <https://a.example/?a=1&amp;b="2"|the page> or https://b.example or me@c.example',
    whatsapp: 'See the page (https://a.example/?a=1&b="2") or https://b.example or me@c.example',
  },
  {
    what: "links that no messenger may open",
    markdown: "[press](javascript:alert(1)) ![x](data:text/html,y)",
    telegram: "press x",
    slack: "press x",
    whatsapp: "press x",
  },
  {
    what: "lists, nested and numbered",
    markdown: "- one\n  - inner\n- two\n\n3. three\n4. four\n\n- [x] done\n- [ ] open",
    telegram: "• one\n   • inner\n• two\n\n3. three\n4. four\n\n☑ done\n☐ open",
    slack: "• one\n   • inner\n• two\n\n3. three\n4. four\n\n☑ done\n☐ open",
    whatsapp: "• one\n   • inner\n• two\n\n3. three\n4. four\n\n☑ done\n☐ open",
  },
  {
    what: "code",
    markdown: "```ts\nconst a = 1 < 2;\n  b();\n```",
    telegram: '<pre><code class="language-ts">const a = 1 &lt; 2;\n  b();</code></pre>',
    slack: "```\nconst a = 1 &lt; 2;\n  b();\n```",
    whatsapp: "```const a = 1 < 2;\n  b();```",
  },
  {
    what: "quotes",
    markdown: "> said\n> twice",
    telegram: "<blockquote>said\ntwice</blockquote>",
    slack: "> said\n> twice",
    whatsapp: "> said\n> twice",
  },
  {
    what: "tables",
    markdown: "| Item | Price |\n|---|---|\n| Tea | 3 |",
    telegram: "<pre>Item  Price\nTea   3</pre>",
    slack: "```\nItem  Price\nTea   3\n```",
    whatsapp: "```Item  Price\nTea   3```",
  },
  {
    what: "HTML and entities, as text",
    markdown: "a &amp; b <b>c\n\n<script>x</script>",
    telegram: "a &amp; b &lt;b&gt;c\n\n&lt;script&gt;x&lt;/script&gt;",
    slack: "a &amp; b &lt;b&gt;c\n\n&lt;script&gt;x&lt;/script&gt;",
    whatsapp: "a & b <b>c\n\n<script>x</script>",
  },
  {
    what: "a mark within the same mark, which would end it",
    markdown: "# A *very **big*** thing\n\n**a __b__ c** and *x ~~y **z** w~~ v*",
    telegram: "<b>A <i>very big</i> thing</b>\n\n<b>a b c</b> and <i>x <s>y <b>z</b> w</s> v</i>",
    slack: "*A _very big_ thing*\n\n*a b c* and _x ~y *z* w~ v_",
    whatsapp: "*A _very big_ thing*\n\n*a b c* and _x ~y *z* w~ v_",
  },
  {
    what: "marks beside letters and beside each other",
    markdown: "un**believ**able 这是**重点**内容 **a***b* (**c**), **d**.",
    telegram: "un<b>believ</b>able 这是<b>重点</b>内容 <b>a</b><i>b</i> (<b>c</b>), <b>d</b>.",
    slack: "un\u200b*believ*\u200bable 这是\u200b*重点*\u200b内容 *a*\u200b_b_ (*c*), *d*.",
    whatsapp: "un\u200b*believ*\u200bable 这是\u200b*重点*\u200b内容 *a*\u200b_b_ (*c*), *d*.",
  },
  {
    what: "marks over several lines",
    markdown: "**one  \ntwo**",
    telegram: "<b>one\ntwo</b>",
    slack: "*one*\n*two*",
    whatsapp: "*one*\n*two*",
  },
  {
    what: "quotes within quotes, and lists and code in them",
    markdown: "> out\n> > in `x`\n>\n> - item\n\n- a\n  > said",
    telegram: "<blockquote>out\n&gt; in <code>x</code>\n• item</blockquote>\n\n• a\n<blockquote>said</blockquote>",
    slack: "> out\n> &gt; in `x`\n> • item\n\n• a\n> said",
    whatsapp: "> out\n> > in `x`\n> • item\n\n• a\n> said",
  },
  {
    what: "marks in a link's label, and code in strong text",
    markdown: "[the **big** `x`](https://a.example) **run `npm i` now**",
    telegram: '<a href="https://a.example">the <b>big</b> <code>x</code></a> <b>run <code>npm i</code> now</b>',
    slack: "<https://a.example|the big x> *run `npm i` now*",
    whatsapp: "the *big* `x` (https://a.example) *run `npm i` now*",
  },
  {
    what: "backticks in code",
    markdown: "`` a`b `` \n\n~~~\n```\n~~~",
    telegram: "<code>a`b</code> \n\n<pre>```</pre>",
    slack: "`aˋb` \n\n```\nˋˋˋ\n```",
    whatsapp: "`aˋb` \n\n```ˋˋˋ```",
  },
  {
    what: "line breaks as HTML, marks in cells, and entities by number",
    markdown: "a<br>b &#8364; &#x27;\n\n| **Item** | `p` |\n|---|---|\n| a<br/>b | [x](https://a.example) |",
    telegram: "a\nb € '\n\n<pre>Item  p\na b   x</pre>",
    slack: "a\nb € '\n\n```\nItem  p\na b   x\n```",
    whatsapp: "a\nb € '\n\n```Item  p\na b   x```",
  },
  {
    what: "bold text beside Chinese punctuation",
    markdown: "**重要：**请看**「注意」**。",
    telegram: "<b>重要：</b>请看<b>「注意」</b>。",
    slack: "*重要：*\u200b请看\u200b*「注意」*\u200b。",
    whatsapp: "*重要：*\u200b请看\u200b*「注意」*\u200b。",
  },
  {
    what: "definitions that a link uses, and others",
    markdown: "See [docs][1].\n\n[1]: https://a.example/one\n[2]: https://a.example/two\n\n[Summary]: done",
    telegram: 'See <a href="https://a.example/one">docs</a>.\n\n[2]: https://a.example/two\n\n[Summary]: done',
    slack: "See <https://a.example/one|docs>.\n\n[2]: https://a.example/two\n\n[Summary]: done",
    whatsapp: "See docs (https://a.example/one).\n\n[2]: https://a.example/two\n\n[Summary]: done",
  },
];

describe("Markdown for messengers", () => {
  test.each(cases)("$what", ({ markdown, telegram, slack, whatsapp }) => {
    expect({
      telegram: telegramHtml(markdown),
      slack: slackMrkdwn(markdown),
      whatsapp: whatsAppText(markdown),
    }).toEqual({ telegram, slack, whatsapp });
  });

  test("Telegram takes the HTML of any Markdown", () => {
    const piece = fc.constantFrom(
      ...["*", "**", "***", "_", "__", "~~", "`", "``", "```", "~~~", "> ", ">> ", "- ", "1. ", "# ", "| ", "|---|"],
      ...[
        "\n",
        "\n\n",
        "  ",
        "    ",
        "[",
        "](https://a.example)",
        "![",
        "<b>",
        "</b>",
        "<br>",
        "&lt;",
        "&#x3c;",
        "<",
        "&",
      ],
      ...["a", "é", "内", "👍", '"', "\\", "https://b.example/?a=1&b=2", "- [x] ", "---", "\t", "word "],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const html = telegramHtml(pieces.join(""));
        expect(problemOf(html)).toBeNull();
        expect(html.replaceAll(/&(amp|lt|gt|quot);/g, "")).not.toContain("&");
      }),
      { numRuns: 1_500 },
    );
  });

  test("a model's text mentions nobody in Slack", () => {
    expect(slackMrkdwn("<!channel> <@U123> [<!here>](https://a.example/|x>)")).not.toMatch(/<[!@]/);
  });
});
