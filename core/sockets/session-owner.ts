import { HOST_ID } from '../process/host.ts'
import { isSocketUrl, queryOf } from './request.ts'

/** A session id begins with its owner: the host, the number of the web worker, and the worker's process id. */
const SESSION_OWNER = new RegExp(`^(${HOST_ID})-(\\d{1,4})-([0-9a-z]{1,8})-`)

/** The web worker in which a socket session lives. */
export interface SessionOwner {
  hostId: string
  /** Identifies the worker among all hosts. */
  key: string
}

/** Returns the key of a web worker, by default of this process. */
export const ownerKey = (hostId: string, workerNumber: number, pid = process.pid) =>
  `${hostId}-${workerNumber}-${pid.toString(36)}`

/** Returns the owner of a request's session; null if the request opens a session or is for no endpoint. */
export function readOwner (url: string, path: string): SessionOwner | null {
  if (!isSocketUrl(url, { path, bare: path })) return null
  const [, hostId, number, pid] = SESSION_OWNER.exec(queryOf(url).get('sid') ?? '') ?? []
  return hostId === undefined ? null : { hostId, key: `${hostId}-${number}-${pid}` }
}
