import { expect, test } from "vitest";
import { contentType, disposition, fileName, readS3Key, s3Key } from "../../../src/features/files/rules.ts";

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

test.each([
  ["report.pdf", "report.pdf"],
  ["../../etc/passwd", "passwd"],
  ["C:\\Users\\ada\\photo.png", "photo.png"],
  ["a\0b\r\nSet-Cookie: x.txt", "abSet-Cookie: x.txt"],
  ["invoice\u202egpj.exe", "invoicegpj.exe"],
  ["половина\ud83d.txt", "половина\ufffd.txt"],
  ["  ", "file"],
  ["", "file"],
  ["..", "file"],
  ["folder/..", "folder"],
  ["folder/", "folder"],
  [".env", ".env"],
  [`${"a".repeat(500)}.tar`, `${"a".repeat(196)}.tar`],
  ["é".repeat(500), "é".repeat(200)],
])("the name %j is kept as %j", (given, kept) => {
  expect(fileName(given)).toBe(kept);
});

const png = "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";

test.each([
  ["a PNG that says so", png, "image/png", "image/png"],
  ["a PNG that says it is a page", png, "text/html", "image/png"],
  ["a GIF that says it is a PNG", "GIF89a..", "image/png", "image/gif"],
  ["a page that says it is a PNG", "<html><script>", "image/png", "application/octet-stream"],
  ["a drawing that can carry a script", "<svg onload=alert(1)>", "image/svg+xml", "application/octet-stream"],
  ["a picture of a kind that is not looked into", "II*\0", "image/tiff", "application/octet-stream"],
  ["text", "tea", "text/plain; charset=utf-8", "text/plain"],
  ["a page", "<html>", "Text/HTML", "text/html"],
  ["no type", "tea", "", "application/octet-stream"],
  ["what would be another header", "tea", "text/plain\r\nX: y", "application/octet-stream"],
  ["what would be several parts", "tea", "multipart/form-data", "application/octet-stream"],
])("%s", (_what, content, claimed, type) => {
  expect(contentType(bytes(content), claimed)).toBe(type);
});

test("only pictures are shown inline, and no name ends the header", () => {
  expect(disposition("image/png", "tea.png")).toBe("inline; filename*=UTF-8''tea.png");
  expect(disposition("image/svg+xml", "x.svg")).toBe("attachment; filename*=UTF-8''x.svg");
  expect(disposition("text/html", `tea"; x='(é)*.html`)).toBe(
    "attachment; filename*=UTF-8''tea%22%3B%20x%3D%27%28%C3%A9%29%2A.html",
  );
});

test("an object in S3 is found with its bucket", () => {
  const place = { region: "eu-central-1", bucket: "files.acme.example" };
  expect(readS3Key(s3Key(place, "42"))).toEqual({ ...place, key: "agent-engine/42" });
});
