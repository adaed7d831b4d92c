import type { FastifyInstance } from 'fastify'
import { databaseNow } from '../../core/database/clock.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { ID_MAX } from '../../core/typebox.ts'
import { type BodyPath, type PlayEntry, limitDuration, readEntry } from './entries.ts'
import { type NewSession, type Owner, insertSessions, lockSubjects } from './rows.ts'
import type { PlaySessionEntry, PlaySessionIngestResponse, PlaySessionIngestResult } from './schemas.ts'

/** Tolerance for inexact clocks of devices. */
const FUTURE_MAX_MS = 5 * 60_000

type Play = Parameters<FastifyInstance['roms']['storePlays']>[2][number]

export interface Ingest extends Owner {
  entries: readonly PlaySessionEntry[]
}

/** A valid entry, ready to be stored. */
interface Candidate extends NewSession {
  index: number
  /** A change of the entry, reported to its sender. */
  detail: string | null
}

function findFault ({ end }: PlayEntry): string | null {
  if (end.getTime() <= databaseNow() + FUTURE_MAX_MS) return null
  return `The end '${end.toISOString()}' is in the future; set the clock of the device`
}

/** Limits the duration of an entry. The entry is stored anyway, because its sender will not repeat it. */
function cutDuration (entry: PlayEntry): Pick<Candidate, 'duration_ms' | 'detail'> {
  const [given, limited] = [entry.duration_ms, limitDuration(entry)]
  if (limited === given) return { duration_ms: given, detail: null }
  return {
    duration_ms: limited,
    detail: `The duration of ${given} ms is longer than from start to end and was reduced to ${limited} ms; send the time of actual play`
  }
}

const resultOf = (index: number, status: PlaySessionIngestResult['status'], { id = null, detail = null }: {
  id?: number | null, detail?: string | null
} = {}): PlaySessionIngestResult => ({ index, status, id, detail })

/** Returns the identity of an entry: two entries of a user with the same identity are duplicates. */
const identify = ({ rom_id: romId, start }: PlayEntry, deviceId: number | null) =>
  `${deviceId ?? ''}/${romId ?? ''}/${start.toISOString()}`

/** Separates the new entries of a request from errors and duplicates. */
function splitEntries (entries: readonly PlayEntry[], deviceId: number | null) {
  const candidates = new Map<string, Candidate>()
  const [errors, duplicates]: [PlaySessionIngestResult[], PlaySessionIngestResult[]] = [[], []]
  for (const [index, entry] of entries.entries()) {
    const [fault, identity] = [findFault(entry), identify(entry, deviceId)]
    if (fault !== null) errors.push(resultOf(index, 'error', { detail: fault }))
    else if (candidates.has(identity)) duplicates.push(resultOf(index, 'duplicate'))
    else candidates.set(identity, { ...entry, ...cutDuration(entry), index, identity })
  }
  return { candidates: [...candidates.values()], errors, duplicates }
}

/** Returns the latest end for each ROM. */
function listPlays (entries: readonly Candidate[]): Play[] {
  const plays = new Map<number, Play>()
  for (const { rom_id: romId, end } of entries) {
    if (romId === null) continue
    const latest = plays.get(romId)
    if (latest === undefined || latest.at < end) plays.set(romId, { rom_id: romId, at: end })
  }
  return [...plays.values()]
}

export function createIngest (app: FastifyInstance) {
  /** Returns the ROMs of entries that the user may see, or that do not exist. */
  async function listVisible (db: Db, userId: number, entries: readonly Candidate[]): Promise<number[]> {
    const named = new Set(entries.flatMap(({ rom_id: id }) => id !== null && id > 0 && id <= ID_MAX ? [id] : []))
    const audiences = await app.permissions.listAudiences(db, [...named])
    return [...named].filter((id) => audiences.get(id)?.includes(userId) !== false)
  }

  async function store (
    db: Db, to: Ingest, candidates: readonly Candidate[], visible: readonly number[]
  ): Promise<Map<string, number>> {
    const roms = await lockSubjects(db, to.device_id, visible)
    const entries = candidates.map((entry) => ({ ...entry, rom_id: roms.has(entry.rom_id ?? 0) ? entry.rom_id : null }))
    const ids = await insertSessions(db, to, entries)
    await app.roms.storePlays(db, to.user_id, listPlays(entries.filter((entry) => ids.has(entry.identity))))
    if (to.device_id !== null) await app.devices.touch(db, to.device_id)
    return ids
  }

  /**
   * Stores the play sessions of a user, each one once. An unknown or hidden ROM is stored as null.
   *
   * @param pathOf returns the path of an entry in the request, for errors
   * @throws ApiError INVALID if an entry fits neither dialect
   */
  return async function ingest (
    db: Db, to: Ingest, pathOf: (index: number) => BodyPath = (index) => ['body', 'play_sessions', index]
  ): Promise<PlaySessionIngestResponse> {
    const entries = to.entries.map((entry, index) => readEntry(entry, pathOf(index)))
    const { candidates, errors, duplicates } = splitEntries(entries, to.device_id)
    const visible = await listVisible(db, to.user_id, candidates)
    const ids = await inTransaction(db, (tx) => store(tx, to, candidates, visible))
    const created: PlaySessionIngestResult[] = []
    for (const { index, identity, detail } of candidates) {
      const id = ids.get(identity)
      if (id === undefined) duplicates.push(resultOf(index, 'duplicate'))
      else created.push(resultOf(index, 'created', { id, detail }))
    }
    duplicates.sort((a, b) => a.index - b.index)
    return {
      results: [...errors, ...duplicates, ...created],
      created_count: created.length,
      skipped_count: entries.length - created.length
    }
  }
}
