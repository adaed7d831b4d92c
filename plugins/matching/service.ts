import type { EntityManager } from '@mikro-orm/postgresql'
import type { ProviderId } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Config } from '../../core/config/config.ts'
import { notFound } from '../../core/errors.ts'
import type { Viewer } from '../platforms/visibility.ts'
import { readPriorities } from '../scans/identify/merge/merge.ts'
import { type FieldSources, listFieldSources } from './field-sources.ts'
import { type MatchCall, createMatcher } from './match.ts'
import { selectSourced } from './rows.ts'

const QUEUE = 'match'
const CONCURRENCY = 2
/** Several providers, each within its own limit. */
const TIMEOUT_MS = 90_000

export function createMatching (app: FastifyInstance, config: Config) {
  app.jobs.define<MatchCall>(QUEUE, {
    concurrency: CONCURRENCY, timeoutSeconds: TIMEOUT_MS / 1_000, run: createMatcher(app, config)
  })

  /** Of a provider whose ids are numbers, text that is none means no id. */
  function toId (text: string, type: 'integer' | 'string'): ProviderId | null {
    const trimmed = text.trim()
    if (type === 'string') return trimmed === '' ? null : trimmed
    return /^-?\d+$/.test(trimmed) && Number.isSafeInteger(Number(trimmed)) ? Number(trimmed) : null
  }

  return {
    /** @throws ApiError NOT_FOUND also for a hidden ROM */
    async getSources (em: EntityManager, viewer: Viewer, id: number): Promise<FieldSources> {
      const sourced = await selectSourced(em, viewer, id)
      if (sourced === null) throw notFound(`ROM with ID '${id}' not found`)
      return listFieldSources(sourced.rom, sourced.founds, readPriorities(config, app.registry.providers))
    },

    /**
     * Matches a ROM as a person says, or forgets what all providers said of it.
     *
     * @param form `<key>_id` of the providers about which something is said
     * @throws ApiError NOT_FOUND also for a hidden ROM · UNAVAILABLE without a scan worker
     */
    async change (
      em: EntityManager, caller: Caller, id: number, form: Readonly<Record<string, string | undefined>>,
      unmatches: boolean
    ) {
      await app.roms.getSimple(em, caller, id)
      const ids = Object.fromEntries(app.roms.providers.all.flatMap(({ key, id: type }) => {
        const text = form[`${key}_id`]
        return text === undefined ? [] : [[key, toId(text, type)] as const]
      }))
      const call: MatchCall = unmatches ? { kind: 'unmatch', rom_id: id } : { kind: 'match', rom_id: id, ids }
      // One after the other for a ROM: each reads what the one before it wrote.
      if (unmatches || Object.keys(ids).length > 0) {
        await app.jobs.request(QUEUE, call, TIMEOUT_MS, { group: `rom:${id}` })
      }
      return await app.roms.getDetailed(em.fork(), caller, id)
    }
  }
}
