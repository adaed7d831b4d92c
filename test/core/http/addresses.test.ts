import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import fc from 'fast-check'
import t from 'tap'
import type { AddressRules, Resolve } from '../../../core/http/addresses.ts'
import { character } from '../../any-string.ts'
import { AddressRefusedError, checkUrl, createLookup, isGlobalAddress, isGlobalHost, originOf }
  from '../../../core/http/addresses.ts'
import { createConnector } from '../../../core/http/agent.ts'

const REFUSED_HOSTS = [
  // this host and loopback
  'localhost', 'LOCALHOST', 'localhost.', 'app.localhost', 'localhost.localdomain', '127.0.0.1', '127.255.255.254',
  '127.0.0.1.', '0.0.0.0', '0.1.2.3', '[::1]', '::1', '[::]', '[0:0:0:0:0:0:0:1]',
  // numbers that become an address
  '2130706433', '017700000001', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1', '127.1', '127.0.1', '10.1', '0',
  '134744072', '0x08080808', '１２７.0.0.1', '127。0。0。1', '①②⑦.0.0.1',
  // private, link-local, shared
  '10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254', '169.254.0.1',
  '100.64.0.1', '100.127.255.255', '[fe80::1]', '[febf::1]', '[fe80::1%25eth0]', 'fe80::1%eth0', '[fc00::1]',
  '[fd12:3456:789a::1]', '[fec0::1]',
  // reserved, documentation, multicast, broadcast
  '192.0.0.1', '192.0.2.1', '198.51.100.7', '203.0.113.9', '198.18.0.1', '198.19.255.255', '192.88.99.1',
  '240.0.0.1', '255.255.255.255', '224.0.0.1', '239.255.255.250', '[ff02::1]', '[2001:db8::1]', '[3fff::1]',
  '[100::1]', '[4000::1]', '[5f00::1]',
  // IPv4 inside IPv6
  '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:10.0.0.1]', '[::ffff:169.254.169.254]', '[::127.0.0.1]',
  '[::7f00:1]', '[64:ff9b::7f00:1]', '[64:ff9b::10.0.0.1]', '[64:ff9b:1::1]', '[2002:7f00:1::]', '[2002:808:808::]',
  '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
  // names of the local network
  'nas', 'router.local', 'printer.LOCAL', 'db.internal', 'metadata.google.internal', 'nas.lan', 'pi.home',
  'host.home.arpa', 'wiki.corp', 'wiki.intranet', 'x.private', 'nas.local.',
  // no host at all
  '', '.', '..', 'a..com', '.example.com', 'exa mple.com', 'example.com/', 'user@example.com', 'example.com:80',
  'example.com#', 'example.com?', 'exa\u0000mple.com', 'example.com\\', '%6c%6f%63%61lhost', `${'a'.repeat(64)}.com`
]

const GLOBAL_HOSTS = [
  'example.com', 'EXAMPLE.com', 'example.com.', 'api.igdb.com', 'xn--bcher-kva.example', 'bücher.example', '8.8.8.8',
  '1.1.1.1', '172.32.0.1', '172.15.255.255', '100.128.0.1', '192.169.0.1', '[2606:4700::1111]', '2a00:1450::1',
  '[::ffff:8.8.8.8]', '[64:ff9b::8.8.8.8]', 'local.example.com', 'localhost.example.com', 'internal.org',
  `${'a'.repeat(63)}.com`
]

t.test('hosts that are local, reserved or disguised are refused', async (t) => {
  t.ok(REFUSED_HOSTS.length >= 60)
  for (const host of REFUSED_HOSTS) t.equal(isGlobalHost(host), false, JSON.stringify(host))
})

t.test('public hosts are accepted', async (t) => {
  for (const host of GLOBAL_HOSTS) t.equal(isGlobalHost(host), true, `'${host}'`)
})

t.test('any text is judged without an error; an accepted one is a host of a URL', async (t) => {
  const anyText = fc.oneof(fc.string({ unit: character }), fc.domain(), fc.ipV4Extended(), fc.ipV6())
  t.doesNotThrow(() => fc.assert(fc.property(anyText, (text) => {
    if (!isGlobalHost(text)) return true
    const host = text.includes(':') && !text.startsWith('[') ? `[${text}]` : text
    const { href, hostname, username, port } = new URL(`http://${host}/`)
    return href === `http://${hostname}/` && username === '' && port === '' && isGlobalHost(hostname)
  })))
})

t.test('an IPv4 address in an IPv6 one without the mapping prefix is never global', async (t) => {
  t.notOk(isGlobalAddress('::1.0.0.0'))
  t.notOk(isGlobalHost('[::8.8.8.8]'))
  t.ok(isGlobalAddress('::ffff:8.8.8.8'))
})

const octet = fc.nat(255)
const privateAddress = fc.oneof(
  fc.tuple(fc.constantFrom(0, 10, 127), octet, octet, octet),
  fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
  fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
  fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), octet, octet),
  fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
  fc.tuple(fc.integer({ min: 224, max: 255 }), octet, octet, octet)
)

t.test('a local IPv4 address is refused in every notation', async (t) => {
  fc.assert(fc.property(privateAddress, (octets) => {
    const dotted = octets.join('.')
    const number = octets.reduce((sum, part) => sum * 256 + part, 0)
    const hex = octets.map((part) => `0x${part.toString(16)}`).join('.')
    const octal = octets.map((part) => `0${part.toString(8)}`).join('.')
    const inside = [dotted, `::ffff:${dotted}`, `::${dotted}`, `64:ff9b::${dotted}`]
    const hosts = [...inside, ...inside.map((address) => `[${address}]`), String(number), `0x${number.toString(16)}`, hex,
      octal, `${octets[0]}.${number % 0x1000000}`]
    t.notOk(inside.some(isGlobalAddress))
    return !hosts.some(isGlobalHost)
  }))
})

t.test('only a plain address is a global address', async (t) => {
  for (const text of ['', 'example.com', '[2606:4700::1111]', '8.8.8', '08.8.8.8', '2606:4700::1111%eth0', ' 8.8.8.8']) {
    t.equal(isGlobalAddress(text), false, `'${text}'`)
  }
  t.equal(isGlobalAddress('8.8.8.8'), true)
  t.equal(isGlobalAddress('2606:4700::1111'), true)
})

t.test('the origin of a URL always has a port', async (t) => {
  t.equal(originOf('http://NAS.lan/x'), 'nas.lan:80')
  t.equal(originOf('https://nas.lan'), 'nas.lan:443')
  t.equal(originOf('https://nas.lan:8443/a?b'), 'nas.lan:8443')
  t.equal(originOf('http://[::1]:3000'), '[::1]:3000')
})

t.test('a configured address is trusted by exact host and port only', async (t) => {
  const rules: AddressRules = { trustedOrigins: ['nas.lan:8080', '10.0.0.5:80', '[fd00::1]:443'] }
  for (const url of ['http://nas.lan:8080/a', 'http://NAS.lan:8080', 'http://10.0.0.5/', 'https://[fd00::1]/']) {
    t.doesNotThrow(() => checkUrl(new URL(url), rules), url)
  }
  for (const url of ['http://nas.lan:8081/', 'http://nas.lan/', 'https://10.0.0.5/', 'http://sub.nas.lan:8080/']) {
    t.throws(() => checkUrl(new URL(url), rules), AddressRefusedError, url)
  }
})

t.test('declared hosts limit requests, and a star allows all subdomains', async (t) => {
  const rules: AddressRules = { hosts: ['api.example.com', '*.cdn.example'], trustedOrigins: ['nas.lan:80'] }
  for (const host of ['api.example.com', 'a.cdn.example', 'a.b.cdn.example', 'nas.lan']) {
    t.doesNotThrow(() => checkUrl(new URL(`http://${host}/`), rules), host)
  }
  for (const host of ['example.com', 'a.api.example.com', 'cdn.example', 'evilcdn.example', 'cdn.example.org', 'xapi.example.com', '8.8.8.8']) {
    t.throws(() => checkUrl(new URL(`http://${host}/`), rules), { name: 'AddressRefusedError', message: /does not declare it/ }, host)
  }
})

t.test('only http and https are allowed', async (t) => {
  for (const url of ['file:///etc/passwd', 'ftp://example.com/', 'gopher://example.com/', 'data:,x']) {
    t.throws(() => checkUrl(new URL(url), { allowPrivate: true }), { message: /use http or https/ }, url)
  }
})

t.test('a refusal names the address and the remedy', async (t) => {
  t.throws(() => checkUrl(new URL('http://192.168.1.1:8080/x?key=1')), {
    message: "The address '192.168.1.1:8080' is not in the public internet and is refused: use a public address, " +
      'or let an administrator configure exactly this host and port'
  })
})

const lookUp = (resolver: Resolve, options: object) => new Promise((resolve, reject) => {
  createLookup(resolver, isGlobalAddress)('games.example.com', options, (err, address, family) => {
    if (err !== null) reject(err)
    else resolve(typeof address === 'string' ? { address, family } : address)
  })
})

t.test('V15: a name is refused if any of its addresses is local', async (t) => {
  const mixed = async () => [{ address: '8.8.8.8', family: 4 }, { address: '127.0.0.1', family: 4 }]
  await t.rejects(lookUp(mixed, { all: true }), { name: 'AddressRefusedError', message: /'127\.0\.0\.1'/ })
  await t.rejects(lookUp(mixed, {}), AddressRefusedError)
})

t.test('V15: a name that was public is refused when it becomes local', async (t) => {
  const answers = ['8.8.8.8', '127.0.0.1']
  const moving = async () => [{ address: answers.shift() ?? '', family: 4 }]
  t.same(await lookUp(moving, { all: true }), [{ address: '8.8.8.8', family: 4 }])
  await t.rejects(lookUp(moving, { all: true }), AddressRefusedError)
})

t.test('a lookup returns the requested form', async (t) => {
  const both = async () => [{ address: '2606:4700::1111', family: 6 }, { address: '8.8.8.8', family: 4 }]
  t.same(await lookUp(both, {}), { address: '2606:4700::1111', family: 6 })
  t.same(await lookUp(both, { family: 4 }), { address: '8.8.8.8', family: 4 })
  t.same(await lookUp(both, { family: 'IPv6', all: true }), [{ address: '2606:4700::1111', family: 6 }])
  await t.rejects(lookUp(async () => [], { all: true }), { message: /has no address/ })
  await t.rejects(lookUp(async () => { throw new Error('getaddrinfo ENOTFOUND') }, {}), { message: /ENOTFOUND/ })
})

t.test('the connection uses the checked address, and the name is resolved once', async (t) => {
  const server = createServer((socket) => socket.end())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const names: string[] = []
  const resolver = async (name: string) => {
    names.push(name)
    return [{ address: '127.0.0.1', family: 4 }]
  }
  const connect = (rules: AddressRules, hostname: string) => new Promise<Socket>((resolve, reject) => {
    createConnector({ resolve: resolver, ...rules })({ hostname, port: String(port), protocol: 'http:' },
      (err, socket) => { if (err === null) resolve(socket); else reject(err) })
  })

  const socket = await connect({ trustedOrigins: [`games.example.com:${port}`] }, 'games.example.com')
  t.equal(socket.remoteAddress, '127.0.0.1')
  t.same(names, ['games.example.com'])
  socket.destroy()
  await t.rejects(connect({}, 'games.example.com'), AddressRefusedError)
  await t.rejects(connect({ trustedOrigins: ['games.example.com:1'] }, 'games.example.com'), AddressRefusedError)
  await t.rejects(connect({}, '127.0.0.1'), AddressRefusedError)
  await t.rejects(connect({}, '[::1]'), AddressRefusedError)
  t.same(names.length, 3)
})
