import { createHash, createHmac } from 'node:crypto'
import type { OutgoingNotification } from '@svc/plugin-sdk'
import type { Settings } from './settings.ts'

/** The form of a key that is not text in Standard Webhooks. */
const ENCODED_KEY = /^whsec_([A-Za-z0-9+/]+={0,2})$/

/** @param at time of this attempt in milliseconds since 1970 */
export function renderHeaders (
  notification: OutgoingNotification, body: Uint8Array, settings: Settings, at: number
): Record<string, string> {
  const { url, secret = '', signature_header: extra = '' } = settings
  const id = nameMessage(notification, url)
  const timestamp = String(Math.floor(at / 1000))
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'User-Agent': 'Svc',
    // Responses stay uncompressed, because they are at most quoted in an error.
    'Accept-Encoding': 'identity',
    'webhook-id': id,
    'webhook-timestamp': timestamp
  }
  if (secret === '') return headers
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  headers['X-Svc-Signature'] = signature
  headers['webhook-signature'] = signStandard(id, timestamp, body, secret)
  if (extra !== '' && extra.toLowerCase() !== 'x-svc-signature') headers[extra] = signature
  return headers
}

/** Returns the same id for all attempts to deliver one notification to one URL, so receivers can drop duplicates. */
function nameMessage ({ id, created_at: createdAt }: OutgoingNotification, url: string): string {
  const digest = createHash('sha256').update(JSON.stringify([url, id, createdAt])).digest('hex')
  return `msg_${digest.slice(0, 32)}`
}

/** Signs the request: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
function signStandard (id: string, timestamp: string, body: Uint8Array, secret: string): string {
  const encoded = ENCODED_KEY.exec(secret)?.[1]
  const key = encoded === undefined ? secret : Buffer.from(encoded, 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
}
