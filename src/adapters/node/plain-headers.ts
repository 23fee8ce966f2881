/** The headers of a response, each as one text (RFC 9110, 5.3). */
export function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    plain[name] = Array.isArray(value) ? value.join(", ") : (value ?? "");
  }
  return plain;
}
