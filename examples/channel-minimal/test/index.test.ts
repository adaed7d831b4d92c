import { DeliveryRefusedError } from '@svc/plugin-sdk'
import { createContext, createNotification, testChannel } from '@svc/plugin-sdk/testing'
import t from 'tap'
import channel from '../src/index.ts'

const responses = new URL('fixtures/', import.meta.url)
const settings = { url: 'https://inbox.example/hook', token: 'not-a-real-token' }

t.test('conforms', (t) => testChannel(t, channel, {
  packageUrl: new URL('../package.json', import.meta.url), settings, responses
}))

t.test('title, body and link are sent as text', async (t) => {
  const ctx = createContext({ t, responses, config: {} })
  const notification = createNotification({ title: 'Scan\ncompleted', body: '2 ROMs', url: 'https://svc.example/scan' })
  await channel.definition.deliver(notification, settings, ctx)
  t.match(ctx.requests, [{
    body: 'Scan completed\n\n2 ROMs\n\nhttps://svc.example/scan',
    headers: { authorization: 'Bearer not-a-real-token', 'content-type': 'text/plain; charset=utf-8' }
  }])
})

t.test('a status 410 is a refused delivery', async (t) => {
  const ctx = createContext({ t, config: {}, responses: [{ url: settings.url, status: 410 }] })
  await t.rejects(channel.definition.deliver(createNotification(), settings, ctx), DeliveryRefusedError)
})
