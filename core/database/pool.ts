import type pg from 'pg'
import { isAway } from './errors.ts'
import { type RequestTime, outOfTime, timeOfRequest } from './request-time.ts'

type Callback = Parameters<pg.Pool['connect']>[0]
type Connect = (callback: Callback) => void

/** Connections that the database announced to end; the driver treats them as usable until they are closed. */
const ending = new WeakSet<pg.PoolClient>()

/**
 * Counts how long a connection is in use, and ends it when its request has no time left. The running statement then
 * fails, and the database rolls it back. An ended connection is released to the pool here, because its user may only
 * release connections that still respond.
 */
function mind (client: pg.PoolClient, time: RequestTime | undefined): void {
  const giveBack = client.release.bind(client)
  const stop = time?.spend(() => { void client.end() })
  let hasEnded = false
  const onEnd = () => {
    client.release(true)
    hasEnded = true
  }
  client.once('end', onEnd)
  client.release = (err) => {
    if (hasEnded) return
    client.off('end', onEnd)
    stop?.()
    giveBack(err ?? ending.has(client))
  }
}

/** Waits for a connection no longer than the request's time allows. */
function connectInTime (connect: Connect, time: RequestTime | undefined, callback: Callback): void {
  const refuse = () => { callback(outOfTime(), undefined, () => {}) }
  if (time !== undefined && time.leftMs <= 0) {
    refuse()
    return
  }
  let isLate = false
  const stop = time?.spend(() => {
    isLate = true
    stop?.()
    refuse()
  })
  connect((err, client, release) => {
    if (isLate) {
      // The pool also timed out: there is no connection to release.
      client?.release()
      return
    }
    stop?.()
    if (client !== undefined) mind(client, time)
    callback(err, client, client?.release ?? release)
  })
}

/** Makes a pool enforce the time limit of requests and watch its connections while they are in use. */
export function mindPool (pool: pg.Pool): void {
  const original = pool.connect.bind(pool)
  const connect: Connect = (callback) => { original(callback) }
  const connectMinded = (callback?: Callback): Promise<pg.PoolClient> | undefined => {
    const time = timeOfRequest()
    if (callback !== undefined) {
      connectInTime(connect, time, callback)
      return undefined
    }
    return new Promise((resolve, reject) => {
      connectInTime(connect, time, (err, client) => {
        if (client === undefined) reject(err ?? outOfTime())
        else resolve(client)
      })
    })
  }
  pool.on('connect', (client) => {
    client.connection.on('errorMessage', (err) => { if (isAway(err)) ending.add(client) })
  })
  pool.connect = connectMinded as typeof pool.connect
}
