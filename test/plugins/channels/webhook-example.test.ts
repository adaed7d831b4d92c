import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createContext, createNotification } from '@svc/plugin-sdk/testing'
import t, { type Test } from 'tap'
import channel from '../../../channels/webhook/src/index.ts'
import { startClient } from '../../core/http/server.ts'

const MAIN = fileURLToPath(new URL('../../../examples/webhook-receiver/main.ts', import.meta.url))
const secret = 'not-a-real-secret'

/** Runs the example as a process that ends with the test; `next` returns the next line it prints. */
async function startReceiver (t: Test) {
  const child = spawn(process.execPath, [MAIN], {
    env: { SVC_WEBHOOK_SECRET: secret, PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(async () => {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => String((await lines.next()).value)
  const port = /^Listening on port (\d+)$/.exec(await next())?.[1]
  return { url: `http://127.0.0.1:${port}/`, next }
}

const receiver = await startReceiver(t)
const sign = (body: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
const body = JSON.stringify(createNotification({ title: 'by hand', url: null }))

async function post (text: string, signature?: string): Promise<number> {
  const headers: Record<string, string> = signature === undefined ? {} : { 'x-svc-signature': signature }
  const { status } = await fetch(receiver.url, { method: 'POST', body: text, headers })
  return status
}

t.test('the example accepts the notifications of the channel', async (t) => {
  const ctx = { ...createContext({ config: {} }), http: startClient(t) }
  const notification = createNotification({ title: 'Scan completed 🎮' })
  await channel.definition.deliver(notification, { url: receiver.url, secret }, ctx)
  t.equal(await receiver.next(), 'success: Scan completed 🎮 (https://svc.example/scan)')
  t.equal(await post(body, sign(body)), 204)
  t.equal(await receiver.next(), 'success: by hand')
})

t.test('the example refuses a request that is not signed with its secret', async (t) => {
  t.equal(await post(body), 401)
  t.equal(await post(body, ''), 401)
  t.equal(await post(body, 'sha256=00'), 401)
  t.equal(await post(body, sign(body).toUpperCase()), 401)
  t.equal(await post(body, `sha256=${createHmac('sha256', 'forged').update(body).digest('hex')}`), 401)
  t.equal(await post(body.replace('success', 'warning'), sign(body)), 401, 'edited')
  t.equal(await post(JSON.stringify(JSON.parse(body), null, 2), sign(body)), 401, 'the same JSON, written otherwise')
  const ctx = { ...createContext({ config: {} }), http: startClient(t) }
  const sending = channel.definition.deliver(createNotification(), { url: receiver.url, secret: 'another' }, ctx)
  await t.rejects(sending, { message: /answered 401; check the secret/ })
})

t.test('the example survives any request', async (t) => {
  t.equal((await fetch(receiver.url)).status, 405)
  t.equal(await post('not JSON', sign('x')), 401)
  t.equal(await post('x'.repeat(200_000)), 413)
  t.equal(await post(body, sign(body)), 204)
  t.equal(await receiver.next(), 'success: by hand', 'nothing else was printed')
})

t.test('the example does not start without a secret', async (t) => {
  const child = spawn(process.execPath, [MAIN], { env: {}, stdio: ['ignore', 'ignore', 'pipe'] })
  const [chunks, [code]] = await Promise.all([child.stderr.toArray(), once(child, 'exit')])
  t.equal(code, 1)
  t.match(Buffer.concat(chunks as Buffer[]).toString(), 'Set SVC_WEBHOOK_SECRET')
})
