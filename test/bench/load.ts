import { Pool } from 'undici'
import { answer } from './process.ts'

/** Requests addresses on a number of connections, for a time, after a number of warm-ups. */
export interface LoadOrder {
  /** The connections are spread over these addresses. */
  urls: readonly string[]
  /** `{n}` in it stands for a number from 1 to `distinct`, another one for each request. */
  path: string
  distinct: number
  /** Null for guests. They come from many networks, as behind a proxy, because guests are limited by network. */
  token: string | null
  connections: number
  seconds: number
  warmUps: number
}

export interface Load {
  perSecond: number
  p50: number
  p99: number
  bytes: number
  /** All requests, including warm-ups. */
  requests: number
}

const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN

let asked = 0
/** Consecutive multiples of it, modulo a smaller number, come in no order that a cache or a disk could use. */
const STEP = 7_368_787
const nextPath = ({ path, distinct }: LoadOrder) => path.replaceAll('{n}', String(asked++ * STEP % distinct + 1))
const toAddress = (number: number) => `10.0.${number >> 8 & 63}.${number & 255}`

async function ask (pool: Pool, order: LoadOrder): Promise<number> {
  const { token } = order
  const path = nextPath(order)
  const headers = token === null ? { 'x-forwarded-for': toAddress(asked++) } : { authorization: `Bearer ${token}` }
  const { statusCode, body } = await pool.request({ method: 'GET', path, headers })
  const bytes = (await body.arrayBuffer()).byteLength
  if (statusCode !== 200) throw new Error(`${path} was answered with ${statusCode}`)
  return bytes
}

async function load (order: LoadOrder): Promise<Load> {
  const pools = order.urls.map((url) => new Pool(url, { connections: order.connections, pipelining: 1 }))
  const times: number[] = []
  const shares = Array.from({ length: Math.ceil(order.connections / pools.length) }, () => pools).flat()
    .slice(0, order.connections)
  const onEach = (work: (pool: Pool) => Promise<void>) => Promise.all(shares.map(work))
  let bytes = 0
  for (const pool of pools) bytes = await ask(pool, order)
  let left = order.warmUps
  await onEach(async (pool) => { while (left-- > 0) await ask(pool, order) })
  const started = performance.now()
  const end = started + order.seconds * 1_000
  await onEach(async (pool) => {
    for (let before = performance.now(); before < end; before = performance.now()) {
      await ask(pool, order)
      times.push(performance.now() - before)
    }
  })
  const seconds = (performance.now() - started) / 1_000
  for (const pool of pools) await pool.close()
  times.sort((a, b) => a - b)
  const requests = pools.length + order.warmUps + times.length
  return { perSecond: times.length / seconds, p50: at(times, 0.5), p99: at(times, 0.99), bytes, requests }
}

answer(load)
