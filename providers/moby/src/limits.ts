// Matches the rates in `Ratelimit-Policy: "1;w=1, 720;w=3600"`: draft-ietf-httpapi-ratelimit-headers-06.
import type { HttpClient, Rate } from '@svc/plugin-sdk'
import { readId, readNumeric } from '@svc/plugin-sdk/readers'
import { API_HOST } from './config.ts'

const POLICY = /(\d+)\s*;\s*w=(\d+)/g
/** A budget that resets within seconds is no allowance. */
const SHORTEST_ALLOWANCE_MS = 60_000

/** Reports the key's rates and the rest of its hourly allowance from the headers of a response. */
export function reportLimits (headers: Readonly<Record<string, string>>, http: HttpClient) {
  const rates = readPolicy(headers['ratelimit-policy'] ?? '')
  if (rates.length > 0) http.setLimits({ rates })
  const total = readId(headers, 'ratelimit-limit')
  const remaining = readNumeric(headers, 'ratelimit-remaining') ?? -1
  const resetS = readId(headers, 'ratelimit-reset')
  const isAllowance = rates.some(({ requests, perMs }) => requests === total && perMs >= SHORTEST_ALLOWANCE_MS)
  if (!isAllowance || remaining < 0 || resetS === undefined) return
  http.setAllowance({ name: 'hour', total, remaining, resetsAt: Date.now() + resetS * 1000 })
}

function readPolicy (policy: string): Rate[] {
  return [...policy.matchAll(POLICY)]
    .map(([, requests, seconds]) => ({ requests: Number(requests), perMs: Number(seconds) * 1000, hosts: [API_HOST] }))
    .filter(({ requests, perMs }) => requests > 0 && perMs > 0 && Number.isSafeInteger(requests * perMs))
}
