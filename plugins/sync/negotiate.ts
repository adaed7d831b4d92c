import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Db } from '../../core/database/db.ts'
import { badRequest, invalid, notFound } from '../../core/errors.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import type { Device } from '../devices/entities.ts'
import { createFileOperations, readByFile } from './dialects/by-file.ts'
import { countOperations, createSlotOperations, readBySlot } from './dialects/by-slot.ts'
import type { Action, Direction } from './decide.ts'
import type { PlannedDownload } from './entities.ts'
import type { PublishSync } from './events.ts'
import type { SessionName } from './session-name.ts'
import type { Listing } from './read-listing.ts'
import type { Pair } from './pair.ts'
import { readResolution } from './resolution.ts'
import { type Scope, selectRomNames } from './rows.ts'
import type { NegotiateBody, NegotiateResponse, Resolution } from './schemas.ts'
import { touchAndLockDevice, insertSession } from './sessions/session-rows.ts'
import { storeBases, decidePairs } from './decide-pairs.ts'

/**
 * Maximum number of conflict events per negotiation, because more would flood the open tabs. The operations contain all
 * conflicts.
 */
const CONFLICT_EVENTS_MAX = 100
const PLANNED: readonly Action[] = ['upload', 'download', 'conflict']

function directionOf ({ sync_mode: mode }: Device): Direction {
  if (mode === 'pull_only') return 'pull'
  return mode === 'push_only' ? 'push' : 'both'
}

/**
 * Reads a listing in one of the dialects; `roms` wins if both are present.
 *
 * @throws ApiError INVALID if both are missing
 */
function readListing (body: NegotiateBody): Listing {
  if (body.roms !== undefined) return readByFile(body.roms)
  if (body.saves !== undefined) return readBySlot(body.saves, body)
  throw invalid(['body'], "The request has no files; send the files on the device as 'roms' or 'saves'")
}

/**
 * Lists the content that the device holds after all operations.
 *
 * @param resolution how the device resolves conflicts; null if the device decides itself
 */
function listDownloads (pairs: readonly Pair[], resolution: Resolution | null): PlannedDownload[] {
  const endsConflicts = resolution === 'keep_both' || resolution === 'server_wins'
  const downloads: PlannedDownload[] = []
  for (const { asset, decision: { action } } of pairs) {
    const isOffered = action === 'download' || (action === 'conflict' && endsConflicts)
    if (isOffered && asset !== null) downloads.push({ asset_id: asset.id, sha1: asset.sha1 })
  }
  return downloads
}

const scopeOf = (caller: Caller, device: Device, listing: Listing): Scope => ({
  user_id: caller.id,
  device_id: device.id,
  caller,
  kinds: listing.kinds,
  rom_ids: listing.rom_ids,
  includes_known: listing.includes_known
})

/** The decided pairs of a negotiation, and the content that the device holds after all operations. */
interface Plan { pairs: readonly Pair[], downloads: readonly PlannedDownload[] }

interface OpenedSession extends SessionName { device: Device }

/** Opens a session. A device may have several open sessions at once, one for each game. */
async function openSession (
  { db, caller: { id: userId } }: Context, device: Device, { pairs, downloads }: Plan
): Promise<OpenedSession> {
  const sessionId = randomUUID()
  const planned = pairs.reduce((sum, pair) => sum + Number(PLANNED.includes(pair.decision.action)), 0)
  return await inTransaction(db, async (tx) => {
    if (!await touchAndLockDevice(tx, device.id)) throw notFound(`Device with ID '${device.device_id}' not found`)
    const id = await insertSession(tx, {
      session_id: sessionId, user_id: userId, device_id: device.id, operations_planned: planned, downloads
    })
    await storeBases(tx, device.id, pairs)
    return { id, session_id: sessionId, user_id: userId, device }
  })
}

async function publishConflicts (
  publish: PublishSync, db: Db, session: SessionName, pairs: readonly Pair[]
): Promise<void> {
  const conflicts = pairs.filter((pair) => pair.decision.action === 'conflict').slice(0, CONFLICT_EVENTS_MAX)
  if (conflicts.length === 0) return
  const names = await selectRomNames(db, conflicts.map((pair) => pair.rom_id))
  for (const { rom_id: romId, file, decision: { reason } } of conflicts) {
    publish(session, 'conflict', {
      file_name: file?.file_name ?? '', rom_id: romId, rom_name: names.get(romId) ?? '', reason
    })
  }
}

/** Returns the response in the dialect of the request. */
function toResponse (
  caller: Caller, body: NegotiateBody, session: OpenedSession, pairs: readonly Pair[]
): NegotiateResponse {
  const { id, session_id: uuid, device } = session
  if (body.roms !== undefined) {
    return { session_id: uuid, operations: pairs.map(createFileOperations(device, uuid, caller)) }
  }
  const operations = pairs.map(createSlotOperations(body))
  return { session_id: id, operations, ...countOperations(operations, body) }
}

export function createNegotiation (app: FastifyInstance, publish: PublishSync) {
  /** Decides the operations for the saves and states of a device, and opens a session. */
  return async function negotiate ({ db, caller }: Context, body: NegotiateBody): Promise<NegotiateResponse> {
    const listing = readListing(body)
    const reference = body.device_id ?? caller.device_id
    if (reference === null) throw badRequest("The request names no device; send 'device_id', or use a token that is bound to a device")
    const device = await app.devices.find(db, caller.id, reference)
    app.devices.requireSync(device)
    const pairs = await decidePairs(db, listing, scopeOf(caller, device, listing), directionOf(device))
    const downloads = listDownloads(pairs, body.roms === undefined ? null : readResolution(device))
    const session = await openSession({ db, caller }, device, { pairs, downloads })
    publish(session, 'started', { sync_mode: device.sync_mode })
    await publishConflicts(publish, db, session, pairs)
    return toResponse(caller, body, session, pairs)
  }
}
