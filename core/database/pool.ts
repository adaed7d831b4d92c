import type pg from 'pg'
import { isUnavailable } from './errors.ts'
import { type RequestTime, outOfTimeError, timeOfRequest } from './request-time.ts'

type Callback = Parameters<pg.Pool['connect']>[0]
type Connect = (callback: Callback) => void

/** Connections that the database announced to end; the driver treats them as usable until they are closed. */
const ending = new WeakSet<pg.PoolClient>()

/**
 * Counts how long a connection is in use, and ends it when its request has no time left. The running statement then
 * fails, and the database rolls it back. An ended connection is released to the pool here, because its user may only
 * release connections that still respond.
 */
function watchConnection (client: pg.PoolClient, time: RequestTime | undefined): void {
  const release = client.release.bind(client)
  const stop = time?.count(() => { void client.end() })
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
    release(err ?? ending.has(client))
  }
}

/** Waits for a connection no longer than the request's time allows. */
function connectInTime (connect: Connect, time: RequestTime | undefined, callback: Callback): void {
  const refuse = () => { callback(outOfTimeError(), undefined, () => {}) }
  if (time !== undefined && time.leftMs <= 0) {
    refuse()
    return
  }
  let isLate = false
  const stop = time?.count(() => {
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
    if (client !== undefined) watchConnection(client, time)
    callback(err, client, client?.release ?? release)
  })
}

/** Makes a pool enforce the time limit of requests and watch its connections while they are in use. */
export function watchPool (pool: pg.Pool): void {
  const original = pool.connect.bind(pool)
  const connect: Connect = (callback) => { original(callback) }
  const connectWatched = (callback?: Callback): Promise<pg.PoolClient> | undefined => {
    const time = timeOfRequest()
    if (callback !== undefined) {
      connectInTime(connect, time, callback)
      return undefined
    }
    return new Promise((resolve, reject) => {
      connectInTime(connect, time, (err, client) => {
        if (client === undefined) reject(err ?? outOfTimeError())
        else resolve(client)
      })
    })
  }
  pool.on('connect', (client) => {
    client.connection.on('errorMessage', (err) => { if (isUnavailable(err)) ending.add(client) })
  })
  pool.connect = connectWatched as typeof pool.connect
}
