import { DeliveryRefusedError, HttpStatusError, Type, defineChannel } from '@svc/plugin-sdk'
import { renderText } from './render.ts'

// Statuses that the owner can fix: gone, too large, wrong address.
const REFUSALS = [404, 405, 410, 413, 415]

export default defineChannel({
  key: 'minimal',
  name: 'Plain text',
  settings: Type.Object({
    url: Type.String({ pattern: '^https?://', description: 'Address that takes the text as the body of a POST' }),
    token: Type.Optional(Type.String({
      writeOnly: true, description: 'Sent as "Authorization: Bearer …" when set'
    }))
  }),
  limits: { titleLength: 250, bodyLength: 4000, perMinute: 30, timeoutMs: 10_000 },

  async deliver (notification, { url, token }, { http }) {
    const headers: Record<string, string> = { 'content-type': 'text/plain; charset=utf-8' }
    if (token !== undefined) headers.authorization = `Bearer ${token}`
    try {
      await http.request(url, { method: 'POST', headers, body: renderText(notification) })
    } catch (err) {
      if (!(err instanceof HttpStatusError) || !REFUSALS.includes(err.status)) throw err
      throw new DeliveryRefusedError(`${new URL(url).host} answered ${err.status}; check the address`, { cause: err })
    }
  },

  describe ({ url }) {
    return URL.canParse(url) ? new URL(url).host : 'an address that cannot be read'
  }
})
