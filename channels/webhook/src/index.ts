import { type HttpResponse, InvalidSettingsError, ServiceDownError, defineChannel } from '@svc/plugin-sdk'
import { renderHeaders } from './headers.ts'
import { describeAnswer, describeSilence } from './refusal.ts'
import { renderPayload } from './render.ts'
import { SettingsSchema } from './settings.ts'

const TIMEOUT_MS = 15_000
const ANSWER_MAX_BYTES = 64 * 1024
/** Error statuses that the client returns as responses, because its own errors do not quote the body. */
const FAILURES = Array.from({ length: 300 }, (_, index) => 300 + index)

export default defineChannel({
  key: 'webhook',
  name: 'Webhook',
  settings: SettingsSchema,
  // Longer than one request takes, because the request's own error says more.
  limits: { perMinute: 60, timeoutMs: TIMEOUT_MS + 5_000 },

  async deliver (notification, settings, { http, signal }) {
    if (!URL.canParse(settings.url)) throw new InvalidSettingsError('url is not an address; give one like https://host/path')
    const body = renderPayload(notification)
    const headers = renderHeaders(notification, body, settings, Date.now())
    let answer: HttpResponse
    try {
      answer = await http.request(settings.url, {
        method: 'POST',
        headers,
        body,
        accept: FAILURES,
        timeoutMs: TIMEOUT_MS,
        maxBytes: ANSWER_MAX_BYTES,
        truncate: true,
        redirects: 0
      })
    } catch (err) {
      signal.throwIfAborted()
      throw err instanceof ServiceDownError ? describeSilence(err, settings) : err
    }
    if (answer.status >= 300) throw describeAnswer(answer, settings)
  },

  describe ({ url }) {
    if (!URL.canParse(url)) return 'an address that cannot be read'
    const { origin, pathname } = new URL(url)
    return `${origin}/…${pathname.slice(-4)}`
  }
})
