const unknownName = "The host name is not known";

/** Explanations of the codes of broken connections, Node's and undici's, for the person who gave the address. */
const meanings: readonly (readonly [code: RegExp, message: string])[] = [
  [/^(ENOTFOUND|ENODATA|EAI_NONAME)$/, unknownName],
  [/^(EAI_|ETIMEOUT$)/, "The host name cannot be looked up now; try again later"],
  [/^ECONNREFUSED$/, "The host refused the connection"],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, "The host closed the connection without an answer"],
  [/^(HPE|UND_ERR)_HEADERS?_OVERFLOW$/, "The headers of the answer are larger than 16 KiB"],
  [/^HPE_/, "The answer is no valid HTTP"],
  [/^(EPROTO|ERR_SSL_)/, "The host does not speak TLS as it must"],
  [/CERT|^ERR_TLS_|^UNABLE_TO_|^HOSTNAME_MISMATCH$/, "The certificate of the host is not valid"],
];

/** Explains the code of a failed connection in the engine's own words: Node's text may contain received bytes. */
export function explainConnection(code: string): string {
  return meanings.find(([pattern]) => pattern.test(code))?.[1] ?? "The host cannot be reached";
}
