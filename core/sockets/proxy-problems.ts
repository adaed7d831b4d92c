import type { Server } from 'socket.io'

/** Problems of the proxy configuration that requests reveal. */
export type ProxyProblemKind = 'origin_refused' | 'upgrade_missing' | 'clients_trusted'

/** A detected problem and its subject: an origin, or the address of a proxy or visitor. */
export interface ProxyProblem { kind: ProxyProblemKind, subject: string, seen_at: string }

export interface ProxyProblems {
  /** Records a problem. @returns true if no process has seen it before and it should be logged */
  record (kind: ProxyProblemKind, subject: string): boolean
  /** Removes a problem that is solved. */
  clear (kind: ProxyProblemKind, subject: string): void
  list (): ProxyProblem[]
}

declare module 'fastify' {
  interface FastifyInstance { proxyProblems: ProxyProblems }
}

const SEEN_EVENT = 'svc:proxy-problem'
const CLEARED_EVENT = 'svc:proxy-problem-cleared'
/** The most problems of one kind, because anybody can send any origin. */
const MAX_PER_KIND = 20
const SUBJECT_MAX_LENGTH = 200

/** Creates the list of problems. What one process detects is published to all running processes. */
export function createProxyProblems (io: Server): ProxyProblems {
  const seen = new Map<string, ProxyProblem>()
  const keyOf = ({ kind, subject }: Pick<ProxyProblem, 'kind' | 'subject'>) => `${kind} ${subject}`

  function recordProblem (problem: ProxyProblem): boolean {
    const isNew = !seen.has(keyOf(problem))
    if (isNew && [...seen.values()].filter(({ kind }) => kind === problem.kind).length >= MAX_PER_KIND) return false
    seen.set(keyOf(problem), problem)
    return isNew
  }

  io.on(SEEN_EVENT, (problem: ProxyProblem) => { recordProblem(problem) })
  io.on(CLEARED_EVENT, (key: string) => { seen.delete(key) })

  return {
    record (kind, given) {
      const problem = { kind, subject: given.slice(0, SUBJECT_MAX_LENGTH), seen_at: new Date().toISOString() }
      const isNew = recordProblem(problem)
      if (isNew) io.serverSideEmit(SEEN_EVENT, problem)
      return isNew
    },
    clear (kind, subject) {
      const key = keyOf({ kind, subject })
      if (seen.delete(key)) io.serverSideEmit(CLEARED_EVENT, key)
    },
    list: () => [...seen.values()]
  }
}
