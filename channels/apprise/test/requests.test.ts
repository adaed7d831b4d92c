import { createNotification, createPluginContext } from '@svc/plugin-sdk/testing'
import t from 'tap'
import channel from '../src/index.ts'
import { SERVICES } from '../src/services/index.ts'
import { CASES, SAMPLE } from './cases.ts'
import { parse } from './support.ts'

for (const [name, { address, answers, requests }] of Object.entries(CASES)) {
  t.test(`${name} receives exactly this request`, async (t) => {
    const ctx = createPluginContext(channel, { t, responses: answers })
    await channel.definition.deliver(createNotification(SAMPLE), parse(address), ctx)
    const made = ctx.requests.map((request, index) => ({
      method: request.method,
      url: request.url,
      ...(requests[index]?.headers === undefined ? {} : { headers: request.headers }),
      body: typeof requests[index]?.body === 'string' ? request.body : JSON.parse(request.body)
    }))
    t.same(made, requests)
  })
}

t.test('every service has a case', async (t) => {
  const tested = new Set(Object.values(CASES).map(({ address }) => parse(address).service))
  t.same(SERVICES.map(({ id }) => id).filter((id) => !tested.has(id)), [])
})
