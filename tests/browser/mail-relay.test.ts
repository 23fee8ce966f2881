import { SMTPServer } from "smtp-server";
import { expect, test } from "vitest";
import { atEnd, shared } from "../runtime/program.ts";
import { hasBrowser, openPage, watch } from "./browser.ts";
import { looksRight, signIn, tabTo } from "./panel.ts";
import { startServer } from "./server.ts";

const browserTest = test.skipIf(!hasBrowser);
const owner = { email: "ada@example.com", password: "correct horse battery" };

const server = shared(() =>
  startServer({ EDITION: "managed", OWNER_EMAIL: owner.email, OWNER_PASSWORD: owner.password }),
);

/** A relay on loopback, with the texts of its mails. */
async function startRelay() {
  const mails: string[] = [];
  const relay = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        // Long lines of a mail are folded by a `=` (quoted-printable).
        const text = Buffer.concat(chunks).toString().replaceAll("=\r\n", "").replaceAll("=3D", "=");
        mails.push(text);
        done();
      });
    },
  });
  const listener = relay.listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  atEnd(() => new Promise<void>((resolve) => relay.close(() => resolve())));
  const address = listener.address();
  return { mails, port: typeof address === "object" && address ? address.port : 0 };
}

browserTest(
  "an owner sets a mail relay and tests it, and resets a password with the link of its mail",
  async () => {
    const { url } = server();
    const relay = await startRelay();
    const page = await openPage();
    const complaints = watch(page, url);
    await page.goto(`${url}/#/mail-relay`);
    await signIn(page, owner);
    await page.getByText("There is none, so no mail is sent.").waitFor();
    await page.getByLabel("Server").fill("127.0.0.1");
    await page.getByLabel("Port").fill("1");
    await tabTo(page, /Only send encrypted/);
    await page.keyboard.press("Space");
    await page.getByLabel("Sender").fill("Agents <agents@example.com>");
    await page.keyboard.press("Enter");
    await page.getByText("There is none, so no mail is sent.").waitFor({ state: "detached" });
    await looksRight(page, "mail-relay");

    // The person's own address is filled in.
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("The relay can't be reached: ECONNREFUSED").waitFor();
    await page.getByLabel("Port").fill(`${relay.port}`);
    await page.keyboard.press("Enter");
    await page.getByText("Saved", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("The relay accepted it").waitFor();
    expect(relay.mails.at(-1)).toContain(`To: ${owner.email}`);

    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Password").waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Forgot your password?" }).click();
    await looksRight(page, "forgot");
    await page.getByLabel("E-mail").fill(owner.email);
    await page.keyboard.press("Enter");
    await page.getByText("a mail with a link is on its way").waitFor();
    await expect.poll(() => relay.mails.length, { timeout: 60_000 }).toBe(2);
    const link = /http\S+\/reset#token=[\w-]+/.exec(relay.mails.at(-1) ?? "")?.[0] ?? "";
    expect(link).toContain(url);

    await page.goto(link);
    await looksRight(page, "reset");
    await page.getByLabel("New password", { exact: true }).fill("a new password");
    await page.getByLabel("New password once more").fill("a new password");
    await page.keyboard.press("Enter");
    await page.getByText("Your password is changed").waitFor();
    expect(page.url()).not.toContain("token");
    await page.getByRole("link", { name: "Sign in" }).click();
    await signIn(page, { ...owner, password: "a new password" });

    // A used link says what to do.
    await page.goto(link);
    await page.getByLabel("New password", { exact: true }).fill("another password");
    await page.getByLabel("New password once more").fill("another password");
    await page.keyboard.press("Enter");
    await page.getByText("This link is not valid any more: ask for a new one").waitFor();
    expect(complaints.filter((complaint) => !complaint.includes("401"))).toEqual([]);
  },
  240_000,
);
