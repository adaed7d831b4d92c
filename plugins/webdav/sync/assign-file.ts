import type { FastifyInstance } from 'fastify'
import type { Context } from '../../../core/access/context.ts'
import { ApiError, conflict, notFound } from '../../../core/errors.ts'
import { User } from '../../users/entities.ts'
import {
  type FileRow, lockPath, selectById, selectByPath, selectUnassigned, selectUnassignedUsers, storeRom
} from '../rows.ts'
import { type GamePath, chooseRom, chooseSlot, findTwin } from './asset-place.ts'
import { findRoms } from './find-rom.ts'
import type { RomCandidate } from './match-rom.ts'
import { readGameFile, readKey } from './read-key.ts'

/** A path whose game is unknown, and the ROMs to which it may belong. */
export interface UnassignedFile { row: FileRow, candidates: readonly RomCandidate[] }

interface ReadRow extends GamePath { row: FileRow }

/** Reads the path of a save or state; returns nothing for other files. */
function readRow (row: FileRow): ReadRow[] {
  const key = readKey(row.path)
  const game = readGameFile(key)
  return game === null ? [] : [{ row, key, game }]
}

/** Creates the assignment of saves and states to ROMs. */
export function createAssignments (app: FastifyInstance) {
  /** Assigns within a transaction that holds the lock of the path. */
  async function move (context: Context, row: FileRow, romId: number): Promise<void> {
    const { db: tx } = context
    const { asset } = row
    const [read] = readRow(row)
    if (asset === null || asset.deleted_by !== null || read === undefined) {
      throw conflict(`'${row.path}' is no save or state, or was deleted; restore it first`)
    }
    if (asset.rom_id === romId) return
    const isPicture = asset.kind === 'screenshot'
    const twin = isPicture ? null : await findTwin(context, read, { rom_id: romId, emulator: asset.emulator })
    const to = { rom_id: romId, slot: await chooseSlot(context, read, romId), twin: twin?.id ?? null }
    await app.assets.filed.assign(context, { kind: asset.kind, id: asset.id }, to)
    await storeRom(tx, row.id, romId, twin?.id ?? asset.id)
  }

  async function assign (context: Context, row: FileRow, romId: number): Promise<void> {
    await context.db.transact(async (tx) => {
      const within = { ...context, db: tx }
      await lockPath(tx, context.caller.id, row, 0)
      const current = await selectByPath(within, row.folded)
      if (current !== null) await move(within, current, romId)
    })
  }

  async function listUnassigned (context: Context): Promise<UnassignedFile[]> {
    const files = (await selectUnassigned(context)).flatMap(readRow)
    const found = await findRoms(context, files)
    return files.map(({ row }) => ({ row, candidates: found.get(row.folded) ?? [] }))
  }

  /** Assigns the files of a user that have exactly one possible game by now. */
  async function assignMatching (context: Context): Promise<void> {
    for (const { row, candidates } of await listUnassigned(context)) {
      const match = chooseRom(candidates, row)
      if (match === null) continue
      await assign(context, row, match.rom_id).catch((err: unknown) => {
        if (!(err instanceof ApiError)) throw err
        app.log.warn({ err, path: row.path, rom_id: match.rom_id }, 'a save could not be assigned to its game')
      })
    }
  }

  return {
    listUnassigned,

    /** Assigns the file with an id to a ROM. @throws ApiError NOT_FOUND, CONFLICT */
    async assign (context: Context, id: number, romId: number): Promise<FileRow> {
      const row = await selectById(context, id)
      if (row === null) throw notFound(`File with ID '${id}' not found`)
      await assign(context, row, romId)
      return await selectById(context, id) ?? row
    },

    /** Tries to assign the files of all users, whose games a scan may have found. */
    async assignAll (): Promise<void> {
      for (const userId of await selectUnassignedUsers(app.db)) {
        const user = await app.db.em.findOne(User, { id: userId })
        if (user === null) continue
        const caller = await app.permissions.toCaller(user, { credential: 'token' })
        await assignMatching({ db: app.db, caller })
      }
    }
  }
}
