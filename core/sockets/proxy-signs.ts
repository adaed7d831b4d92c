import type { Server } from 'socket.io'

/** Problems of the proxy configuration that requests reveal. */
export type SignKind = 'origin_refused' | 'upgrade_missing' | 'clients_trusted'

/** A detected problem and its subject: an origin, or the address of a proxy or visitor. */
export interface Sign { kind: SignKind, subject: string, seen_at: string }

export interface Signs {
  /** Records a problem. @returns true if no process has seen it before and it should be logged */
  note (kind: SignKind, subject: string): boolean
  /** Removes a problem that is solved. */
  clear (kind: SignKind, subject: string): void
  list (): Sign[]
}

declare module 'fastify' {
  interface FastifyInstance { signs: Signs }
}

const SEEN_EVENT = 'svc:sign'
const CLEARED_EVENT = 'svc:sign-cleared'
/** The most problems of one kind, because anybody can send any origin. */
const MAX_OF_A_KIND = 20
const SUBJECT_MAX_LENGTH = 200

/** Creates the list of problems. What one process detects is published to all running processes. */
export function createSigns (io: Server): Signs {
  const seen = new Map<string, Sign>()
  const keyOf = ({ kind, subject }: Pick<Sign, 'kind' | 'subject'>) => `${kind} ${subject}`

  function recordSign (sign: Sign): boolean {
    const isNew = !seen.has(keyOf(sign))
    if (isNew && [...seen.values()].filter(({ kind }) => kind === sign.kind).length >= MAX_OF_A_KIND) return false
    seen.set(keyOf(sign), sign)
    return isNew
  }

  io.on(SEEN_EVENT, (sign: Sign) => { recordSign(sign) })
  io.on(CLEARED_EVENT, (key: string) => { seen.delete(key) })

  return {
    note (kind, given) {
      const sign = { kind, subject: given.slice(0, SUBJECT_MAX_LENGTH), seen_at: new Date().toISOString() }
      const isNew = recordSign(sign)
      if (isNew) io.serverSideEmit(SEEN_EVENT, sign)
      return isNew
    },
    clear (kind, subject) {
      const key = keyOf({ kind, subject })
      if (seen.delete(key)) io.serverSideEmit(CLEARED_EVENT, key)
    },
    list: () => [...seen.values()]
  }
}
