import {
  CredentialsRefusedError, DeliveryRefusedError, InvalidSettingsError, type OutgoingNotification, ServiceDownError
} from '@svc/plugin-sdk'
import { createNotification, createPluginContext, testChannel } from '@svc/plugin-sdk/testing'
import { Value } from '@sinclair/typebox/value'
import t, { type Test } from 'tap'
import channel from '../src/index.ts'
import { ACCOUNT, CERTIFICATE, startMailServer } from './mail-server.ts'

const { definition } = channel
const address = 'ada@home.example'
const server = await startMailServer(t)
const config = { host: '127.0.0.1', port: server.port, ...ACCOUNT, from: 'Svc <svc@games.example>', tlsCa: CERTIFICATE }

interface Given { config?: object, address?: string, signal?: AbortSignal }

async function deliver (t: Test, overrides: Partial<OutgoingNotification> = {}, given: Given = {}) {
  const { config: changed = {}, address: to = address, ...rest } = given
  const ctx = createPluginContext(channel, { t, config: { ...config, ...changed }, ...rest })
  await definition.deliver(createNotification(overrides), { address: to }, ctx)
}

/** Returns the mail that the server received last. */
function last () {
  const received = server.received.at(-1)
  if (received === undefined) throw new Error('nothing arrived')
  return received
}

async function fail (...given: Parameters<typeof deliver>): Promise<Error> {
  const before = server.received.length
  const error = await deliver(...given).then(() => null, (err: Error) => err)
  if (error === null || server.received.length > before) throw new Error('the mail was delivered')
  return error
}

t.test('conforms', (t) => testChannel(t, channel, {
  packageUrl: new URL('../package.json', import.meta.url),
  config,
  settings: { address },
  failing: { address: 'refused@home.example' },
  deliveries: () => server.received.length
}))

t.test('a notification arrives as text and as HTML', async (t) => {
  await deliver(t, { title: 'Scan completed', body: '3 new games\n1 new platform' })
  const { from, to, isSecure, user, mail } = last()
  t.same({ from, to, isSecure, user }, { from: 'svc@games.example', to: [address], isSecure: true, user: 'svc' })
  t.equal(mail.headers.get('from'), 'Svc <svc@games.example>')
  t.equal(mail.headers.get('to'), address)
  t.equal(mail.headers.get('subject'), '[Svc] Scan completed')
  t.equal(mail.headers.get('auto-submitted'), 'auto-generated')
  t.equal(mail.headers.get('date'), 'Fri, 02 Jan 2026 03:04:05 +0000')
  t.match(mail.text, /^Scan completed\n\n3 new games\n1 new platform\n\nhttps:\/\/svc\.example\/scan\n\n-- \nYou get this mail/)
  t.match(mail.html, /<h1[^>]*>Scan completed<\/h1>\n<p>3 new games<br>\n1 new platform<\/p>\n<p><a href="https:\/\/svc\.example\/scan">/)
  t.notMatch(mail.html, /<img|src=|url\(/i, 'nothing is loaded from elsewhere')
})

t.test('missing parts leave no gap', async (t) => {
  await deliver(t, { title: '', body: ' \n', url: null })
  t.match(last().mail.text, /^-- \nYou get/)
  t.notMatch(last().mail.html, /<a |<p><\/p>/)
  await deliver(t, { url: 'javascript:alert(1)' })
  t.notMatch(last().mail.source, /javascript/, 'only web addresses are links')
})

t.test('the message id is stable over retries, per notification and address', async (t) => {
  const idOf = async (overrides: Partial<OutgoingNotification>, to = address) => {
    await deliver(t, overrides, { address: to })
    return last().mail.headers.get('message-id')
  }
  const id = await idOf({})
  t.match(id, /^<[0-9a-f]{32}@games\.example>$/)
  t.equal(await idOf({}), id)
  t.not(await idOf({ id: 8 }), id)
  t.not(await idOf({}, 'bob@home.example'), id)
})

t.test('no title adds a header or a line', async (t) => {
  const breaks = ['\r\n', '\n', '\r', '\u2028', '\0\v']
  const before = server.received.length
  await Promise.all(breaks.map((lineBreak) => deliver(t, {
    title: `Hi${lineBreak}Bcc: eve@else.example${lineBreak}${lineBreak}<b>body</b>`
  })))
  const arrived = server.received.slice(before)
  t.equal(arrived.length, breaks.length)
  for (const { to, mail } of arrived) {
    t.same(to, [address])
    t.notOk(mail.headers.has('bcc'))
    t.equal(mail.headers.get('subject'), '[Svc] Hi Bcc: eve@else.example <b>body</b>')
  }
  await deliver(t, { title: 'Ünïcödé 🎮' })
  t.equal(last().mail.headers.get('subject'), '[Svc] Ünïcödé 🎮')
})

t.test('markup is sent as text', async (t) => {
  const evil = '"><img src=x onerror=alert(1)>&amp;\'</title>'
  await deliver(t, { title: evil, body: evil, url: `https://svc.example/${evil}` })
  const { html, text } = last().mail
  const escaped = '&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&amp;amp;&#39;&lt;/title&gt;'
  t.match(html, `<h1 style="margin:0;font-size:20px">${escaped}</h1>`)
  t.match(html, `<p>${escaped}</p>`)
  t.match(html, `<a href="https://svc.example/${escaped}">`)
  t.match(text, evil)
})

t.test('a line of the body with a single dot does not end the mail', async (t) => {
  await deliver(t, { body: 'one\n.\nRSET\n..two' })
  t.match(last().mail.text, 'one\n.\nRSET\n..two')
})

t.test('the code is sent to the channel\'s address', async (t) => {
  const ctx = createPluginContext(channel, { t, config })
  await definition.confirm?.('048213', { address }, ctx)
  const { to, mail } = last()
  t.same(to, [address])
  t.equal(mail.headers.get('subject'), '[Svc] Confirm your email channel')
  t.match(mail.text, /\n {4}048213\n/)
  t.match(mail.html, /<p[^>]*>048213<\/p>/)
  t.equal(mail.headers.get('auto-submitted'), 'auto-generated')
})

t.test('a permanent refusal of the server is a refused delivery', async (t) => {
  const name = `The mail server '127.0.0.1:${server.port}'`
  const recipient = await fail(t, {}, { address: 'refused@home.example' })
  t.type(recipient, DeliveryRefusedError)
  t.equal(recipient.message, `${name} refuses the address 'refused@home.example': 550 No such user here; check the address`)
  const sender = await fail(t, {}, { config: { from: 'blocked@games.example' } })
  t.type(sender, DeliveryRefusedError)
  t.match(sender.message, 'refuses the mail: 550 Sender not allowed; check SMTP_FROM')
  t.type(await fail(t, { title: 'spam' }), DeliveryRefusedError)
})

t.test('a temporary refusal of the server is not a refused delivery', async (t) => {
  const error = await fail(t, {}, { address: 'busy@home.example' })
  t.type(error, ServiceDownError)
  t.match(error.message, 'did not accept the mail: 450 Mailbox busy; try again later')
})

t.test('a refused account names the settings and shows no password', async (t) => {
  const password = 'mistyped-password'
  const error = await fail(t, {}, { config: { password } })
  t.type(error, CredentialsRefusedError)
  t.match(error.message, /535 .*svc:\*\*\*; check SMTP_USERNAME and SMTP_PASSWORD/)
  t.notMatch(JSON.stringify([error.message, error.stack, error.cause]), password)
})

t.test('an address must have exactly one recipient', async (t) => {
  const fits = (text: string) => Value.Check(definition.settings, { address: text })
  for (const good of [
    address, 'root@nas', 'a.b+svc@sub.home.example', "o'neil@home.example", 'ada@b\u00fccher.example', 'x@192.168.1.2'
  ]) t.ok(fits(good), good)
  for (const bad of [
    '', 'ada', '@home.example', 'ada@', 'ada@@home.example', 'a@b\r\nBcc: c@d', 'a@b\nc', 'a@b,c@d', 'a@b;c@d', 'a@b c@d',
    'Ada <ada@home.example>', '"a b"@home.example', 'a@b\0', 'team:a@b;', 'ada@home..example', 'ada@.example', 'ada@home.example.',
    'a@[127.0.0.1]', 'a@b>\u2028', `${'a'.repeat(65)}@home.example`, `a@${'b.'.repeat(160)}c`
  ]) {
    t.notOk(fits(bad), encodeURI(bad))
    const error = await fail(t, {}, { address: bad })
    t.type(error, InvalidSettingsError)
    t.notMatch(error.message, /[\r\n\0]/)
  }
})

t.test('the configuration accepts only valid mail server settings', async (t) => {
  const schema = definition.config
  const fits = (changed: object) => schema !== undefined && Value.Check(schema, { ...config, security: 'tls', ...changed })
  t.ok(fits({ from: 'svc@games.example', username: undefined, password: undefined, tlsCa: undefined }))
  for (const changed of [
    { host: '' }, { port: 0 }, { security: 'ssl' }, { from: 'svc' }, { from: 'Svc\r\nBcc: <a@b' }, { tlsCa: '/etc/ca.pem' }
  ]) t.notOk(fits(changed), JSON.stringify(changed))
  t.same(Object.entries(schema?.properties ?? {}).map(([, { env }]) => env as string), ['SMTP_HOST', 'SMTP_PORT', 'SMTP_SECURITY',
    'SMTP_USERNAME', 'SMTP_PASSWORD', 'SMTP_FROM', 'SMTP_TLS_CA'])
  t.same(schema?.required?.filter((name) => !['port', 'security'].includes(name)), ['host', 'from'])
})
