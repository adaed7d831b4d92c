import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HttpStatusError, type HttpClient, type HttpResponse, type RequestOptions } from '@svc/plugin-sdk'
import { createNotification, createPluginContext } from '@svc/plugin-sdk/testing'
import t, { type Test } from 'tap'
import channel from '../src/index.ts'
import { CASES, SAMPLE } from './cases.ts'
import { parse } from './support.ts'

async function readAll (request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body
}

/** Starts a server that accepts everything and responds like the service. */
async function startReceiver (t: Test, status: number, answer: string) {
  const received: { method?: string, url?: string, type?: string, body: string }[] = []
  const server = createServer((request, response) => {
    void readAll(request).then((body) => {
      received.push({ method: request.method, url: request.url, type: request.headers['content-type'], body })
      response.writeHead(status).end(answer)
    })
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.after(() => server.close())
  return { received, port: (server.address() as AddressInfo).port }
}

function toBody ({ json, form, body = '' }: RequestOptions): [string, string] {
  if (json !== undefined) return ['application/json', JSON.stringify(json)]
  if (form !== undefined) return ['application/x-www-form-urlencoded', new URLSearchParams(form).toString()]
  return ['application/octet-stream', String(body)]
}

/** The client of the context over real sockets. */
const http: Pick<HttpClient, 'request'> = {
  async request (url, options = {}): Promise<HttpResponse> {
    const [type, body] = toBody(options)
    const { method, headers } = options
    const response = await fetch(url, { method, headers: { 'content-type': type, ...headers }, body, redirect: 'manual' })
    const text = await response.text()
    const { status } = response
    if (!response.ok) throw new HttpStatusError(status, `answered ${status}`, text)
    const bytes = Buffer.from(text)
    return { status, headers: {}, bytes, isReused: false, text: () => text, json: () => JSON.parse(text) as unknown }
  }
}

const RUNS: [string, string, string][] = [
  ['ntfy of one\'s own, with two topics and a token', 'ntfy.example:8080', '{"id":"x"}'],
  ['Gotify', 'gotify.example', '{"id":1}'],
  ['Rocket.Chat by webhook', 'chat.example', '{"success":true}'],
  ['Matrix by password', 'matrix.example:8008', '{"access_token":"fresh","room_id":"!room:example","event_id":"$1"}'],
  ['Signal API', 'signal.example:8080', '{}'],
  ['XML', 'hook.example', ''],
  ['Form', 'hook.example:81', '']
]

for (const [name, host, answer] of RUNS) {
  t.test(`${name} over a real connection`, async (t) => {
    const { received, port } = await startReceiver(t, 200, answer)
    const { address = '', requests = [] } = CASES[name] ?? {}
    const ctx = { ...createPluginContext(channel, { t }), http: http as HttpClient }
    await channel.definition.deliver(createNotification(SAMPLE), parse(address.replace(host, `127.0.0.1:${port}`)), ctx)
    t.same(received.map(({ method, url, body }) => ({ method, url, body: body.startsWith('{') ? JSON.parse(body) : body })),
      requests.map(({ method, url, body }) => {
        const { pathname, search } = new URL(url)
        return { method, url: pathname + search, body }
      }))
  })
}

t.test('a refusing receiver is reported', async (t) => {
  const answer = '{"error":"Unauthorized","errorDescription":"you need to provide a valid access token"}'
  const { port } = await startReceiver(t, 401, answer)
  const ctx = { ...createPluginContext(channel, { t }), http: http as HttpClient }
  await t.rejects(channel.definition.deliver(createNotification(), parse(`gotify://127.0.0.1:${port}/wrong`), ctx), {
    name: 'HttpStatusError',
    message: 'Gotify answered 401: you need to provide a valid access token; check the fields of the channel'
  })
})
