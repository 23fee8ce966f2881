import { networkInterfaces } from "node:os";
import { isPublicAddress } from "../../src/core/egress/target.ts";

/** Spellings of 127.0.0.1 that the WHATWG parser accepts: numbers of all bases, short forms, other scripts. */
export const spellings = [
  ...["127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "127.1.", "0177.1", "0x7f.1", "0X7F.1", "0x7f.0x1"],
  ...["2130706433", "2130706433.", "017700000001", "0x7f000001", "0x7F000001", "0x7f000001.", "00000017700000001"],
  ...["0177.0.0.1", "0177.0.0.01", "0177.00.00.01", "0177.0x0.0.1", "0000177.0000.000.00001", "0x7f.0.0.1"],
  ...["0x7f.0x0.0x0.0x1", "0x7f.0x00.0x000.0x0001", "0x7f.0x000001", "0x7f.0.1", "127.0x0.1", "127.0.0x1"],
  ...["127.0x0.0x0.0x1", "127.00000.0.1", "127.0.0.0x1", "127.0.0.01", "127.0x1", "127.000001", "0x0000007f.1"],
  ...["%31%32%37.0.0.1", "127%2e0%2e0%2e1", "127%2E0.0.1", "127.0.0%2e1", "%30x7f.1", "0%787f.1", "2%31307064%33%33"],
  ...["①②⑦.⓪.⓪.①", "１２７.０.０.１", "127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "𝟙𝟚𝟟.𝟘.𝟘.𝟙", "①②⑦.1"],
  ...["１２７。１", "0ⓧ7f.1", "0ｘ7ｆ.1", "127.0.0.1\u00ad", "1\u200b27.0.0.1", "127\u2060.0.0.1", "127.0.0.\ufe0f1"],
  ...["%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1", "127%E3%80%820%E3%80%820%E3%80%821", "12\t7.0.0.1", "127.0.\n0.1"],
  ...["²¹³⁰⁷⁰⁶⁴³³", "₁₂₇.₀.₀.₁"],
];

/** The same machine by IPv6, and by the IPv6 forms of IPv4 addresses. */
const loopback6 = [
  ...["::1", "0:0:0:0:0:0:0:1", "0000:0000:0000:0000:0000:0000:0000:0001", "::0:1", "0::1", "::0001", "0:0::0:1"],
  ...["::0.0.0.1", "::ffff:127.0.0.1", "::FFFF:127.0.0.1", "::ffff:7f00:1", "::ffff:7f00:0001", "0::ffff:7f00:1"],
  ...["0:0:0:0:0:ffff:127.0.0.1", "0000:0000:0000:0000:0000:ffff:7f00:0001", "::ffff:127.255.255.254", "::127.0.0.1"],
  ...["::7f00:1", "::ffff:0:127.0.0.1", "::ffff:0:7f00:1", "64:ff9b::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"],
  ...["64:ff9b:1::127.0.0.1", "64:ff9b:1:7f00:0:100::", "2001:0:0:0:0:0:80ff:fffe", "2002:7f00:0001::1", "::", "0::0"],
  ...["0:0:0:0:0:0:0:0", "::ffff:0.0.0.0", "::ffff:0:0", "::0.0.0.0", "64:ff9b::0.0.0.0", "2002:0:0::"],
];

const private4 = [
  ...["0", "0.0.0.0", "0.0.0.0.", "0x0", "00", "0.0", "0x.0x.0", "0.1.2.3", "0.255.255.255", "127.0.0.0", "127.0.1.1"],
  ...["127.0.0.2", "127.53.53.53", "127.127.127.127", "127.255.255.255", "2147483647", "10.0.0.0", "10.0.0.1", "10.1"],
  ...["10.255.255.255", "0xa.1", "012.1", "167772161", "0x0a000001", "172.16.0.0", "172.16.0.1", "172.17.0.1"],
  ...["172.31.255.255", "2886729729", "0xac.0x10.1", "0254.020.0.1", "192.168.0.0", "192.168.0.1", "192.168.255.255"],
  ...["3232235521", "0300.0250.0.1", "0xc0a80001", "192.168.1", "192.11010049", "169.254.0.0", "169.254.0.1"],
  ...["169.254.169.254", "169.254.169.254.", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "0xa9.0xfe.0xa9.0xfe"],
  ...["169.254.43518", "169.16689662", "025177524776", "169。254。169。254", "①⑥⑨.②⑤④.①⑥⑨.②⑤④", "169.254.170.2"],
  ...["169.254.170.23", "169.254.255.255", "100.64.0.0", "100.64.0.1", "100.100.100.200", "100.127.255.255"],
  ...["1684301000", "192.0.0.0", "192.0.0.1", "192.0.0.192", "192.0.0.8", "192.0.2.0", "192.0.2.1", "192.0.2.255"],
  ...["192.88.99.1", "198.18.0.0", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "203.0.113.255"],
  ...["224.0.0.1", "224.0.0.251", "239.255.255.250", "239.255.255.255", "240.0.0.1", "250.1.2.3", "255.255.255.254"],
  ...["255.255.255.255", "4294967295", "0xffffffff", "037777777777", "168.63.129.16", "2822734096"],
];

const private6 = [
  ...["fe80::1", "fe80::", "febf::1", "FE80::A", "fe80::7f00:1", "fec0::1", "feff::1", "fc00::", "fc00::1", "fd00::1"],
  ...["fd00:ec2::254", "FD00:EC2::254", "fd00:ec2::23", "fd20:ce::254", "fdff:ffff::1", "ff00::", "ff01::1", "ff02::1"],
  ...["ff02::fb", "ff05::1:3", "ffff::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "100::", "100::1", "100:0:0:1::1"],
  ...["2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::"],
  ...["2001:db8::1", "2001:db8:ffff::1", "3fff::1", "3fff:fff::1", "5f00::1", "4000::1", "8000::1", "c000::1", "1::1"],
  ...["::2", "::ffff", "::1:0:0", "::ffff:10.0.0.1", "::ffff:a00:1", "::ffff:172.16.0.1", "::ffff:192.168.0.1"],
  ...["::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "::ffff:100.64.0.1", "::ffff:198.18.0.1", "::ffff:224.0.0.1"],
  ...["::ffff:255.255.255.255", "::10.0.0.1", "::169.254.169.254", "::a9fe:a9fe", "::8.8.8.8", "::ffff:0:8.8.8.8"],
  ...[
    "64:ff9b::10.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b::169.254.169.254",
    "64:ff9b::192.168.1.1",
    "64:ff9b::ffff:ffff",
  ],
  ...["64:ff9b:1::1", "64:ff9b:1:ffff::a00:1", "64:ff9b::1:0:0", "2002:a00:1::", "2002:a9fe:a9fe::", "2002:c0a8:1::1"],
  ...["2002:6440:1::", "2002:808:808::1", "::ffff:168.63.129.16", "64:ff9b::168.63.129.16"],
];

const localNames = [
  ...[
    "localhost",
    "LOCALHOST",
    "LocalHost",
    "localhost.",
    "LOCALHOST.",
    "a.localhost",
    "a.b.localhost",
    "a.localhost.",
  ],
  ...[
    "%6c%6f%63%61%6c%68%6f%73%74",
    "loc%61lhost",
    "localhost%2e",
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
    "ｌｏｃａｌｈｏｓｔ",
    "𝐥𝐨𝐜𝐚𝐥𝐡𝐨𝐬𝐭",
    "𝓵𝓸𝓬𝓪𝓵𝓱𝓸𝓼𝓽",
  ],
  ...[
    "loc\u00adalhost",
    "localho\u200bst",
    "lo\tcalhost",
    "localhost。",
    "localhoſt",
    "ℓocalhost",
    "public.test.localhost",
  ],
];

/** Names that the tests' resolver knows, and their addresses. */
export const hiddenNames: Readonly<Record<string, readonly string[]>> = {
  "metadata.google.internal": ["169.254.169.254"],
  "instance-data": ["169.254.169.254"],
  "loopback.test": ["127.0.0.1"],
  "loopback6.test": ["::1"],
  "mapped.test": ["::ffff:127.0.0.1"],
  "translated.test": ["64:ff9b::7f00:1"],
  "tunnel.test": ["2002:7f00:1::1"],
  "zone.test": ["fe80::1%eth0"],
  "any.test": ["0.0.0.0"],
  "any6.test": ["::"],
  "private.test": ["10.0.0.1"],
  "router.test": ["192.168.0.1"],
  "container.test": ["172.17.0.2"],
  "shared.test": ["100.64.0.1"],
  "unique.test": ["fd12:3456:789a::1"],
  "azure.test": ["168.63.129.16"],
  "mixed.test": ["93.184.215.14", "127.0.0.1"],
  "mixed-first.test": ["127.0.0.1", "93.184.215.14"],
  "mixed6.test": ["93.184.215.14", "::1"],
  "odd.test": ["0177.0.0.1"],
  "number.test": ["2130706433"],
  "short.test": ["127.1"],
  "nonsense.test": ["not an address"],
  "empty-text.test": [""],
  "xn--fsqu00a.test": ["127.0.0.1"],
};

const names = ["LOOPBACK.test", "loopback.test.", "loop%62ack.test", "ｌoopback.test", "例子.test", "mixed。test"];

/** URLs whose host is not what a hasty reader sees; `port` is the canary's. */
function tricks(port: number): string[] {
  return [
    ...[`http://public.test@127.0.0.1:${port}/`, `http://public.test:80@127.0.0.1:${port}/`],
    ...[`http://user:password@127.0.0.1:${port}/`, `http://127.0.0.1:${port}@public.test/`, `http://user@public.test/`],
    ...[`http://public.test%40127.0.0.1:${port}/`, `http://public.test%2f@127.0.0.1:${port}/`],
    ...[],
    ...[`http://127.0.0.1:${port}\\@public.test/`, `http://127.0.0.1:${port}#@public.test/`],
    ...[`http://127.0.0.1:${port}/?@public.test`, `http://127.0.0.1:${port}?public.test`, `http://@127.0.0.1:${port}/`],
    ...[`http://:@127.0.0.1:${port}/`, `http://public.test&@127.0.0.1:${port}#@public.test/`],
    ...[`http://public.test@@127.0.0.1:${port}/`, `http:\\\\127.0.0.1:${port}\\`, `http:/127.0.0.1:${port}/`],
    ...[`http:127.0.0.1:${port}/`, `http:////127.0.0.1:${port}/`, `http:/\\127.0.0.1:${port}/`],
    ...[`ht\ntp://127.0.0.1:${port}/`, ` http://127.0.0.1:${port}/ `, `\u0000http://127.0.0.1:${port}/`],
    ...[`HTTP://127.0.0.1:${port}/`, `hTTpS://127.0.0.1:${port}/`, `http://127.0.0.1:0${port}/`],
    ...["http://127.0.0.1:0/", "http://public.test:0/", "http://127.0.0.1", "https://127.0.0.1", "http://[::1]"],
    ...["http://127.0.0.1:80/", "http://127.0.0.1:22/", "http://127.0.0.1:6379/", "http://public.test:99999/"],
    ...[`http://[::1%25lo]:${port}/`, `http://[fe80::1%25eth0]:${port}/`, `http://[127.0.0.1]:${port}/`],
    ...[`http://[::ffff:127.0.0.1.]:${port}/`, `http://[::1`, `http://::1:${port}/`, `http://[v1.127.0.0.1]:${port}/`],
    ...[`file:///etc/passwd`, `ftp://127.0.0.1:${port}/`, `gopher://127.0.0.1:${port}/_GET`, `data:text/plain,hello`],
    ...[`ws://127.0.0.1:${port}/`, `unix:/var/run/docker.sock`, `http+unix://%2Fvar%2Frun%2Fdocker.sock/`],
    ...[`blob:http://127.0.0.1:${port}/1`, `javascript:fetch("http://127.0.0.1")`, `view-source:http://127.0.0.1/`],
    ...["", "http://", "http:///", "//127.0.0.1/", "/etc/passwd", "127.0.0.1", "localhost", "http://..", "http://."],
    ...[
      "http://public..test/",
      "http://public.test../",
      "http://localhost../",
      "http://.localhost/",
      "http://256.1.1.1/",
    ],
    ...["http://1.2.3.4.5/", "http://0x100000000/", "http://127.0.0.0x/", "http://127.0.0.1.1/", "http://1.1.1.09/"],
  ];
}

/** The addresses of this machine that are not public, where its other services may listen. */
function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return all.map(({ address }) => address).filter((address) => !isPublicAddress(address));
}

const bracket = (address: string) => (address.includes(":") ? `[${address}]` : address);

/** URLs that must not be requested, without repeats; where the port is free to choose, it is the canary's. */
export function corpus(port: number): string[] {
  const own = ownAddresses().map(bracket);
  const hosts = [...spellings, ...private4, ...localNames, ...Object.keys(hiddenNames), ...names, ...own];
  const hosts6 = [...loopback6, ...private6].map((address) => `[${address}]`);
  const urls = [...hosts, ...hosts6].map((host) => `http://${host}:${port}/`);
  return [...new Set([...urls, ...tricks(port)])];
}
