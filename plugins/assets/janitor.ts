import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config.ts'
import { errorCode } from '../../core/library/fs-error.ts'
import type { TaskDefinition } from '../tasks/definitions.ts'
import { type Files, INCOMING } from './files.ts'
import { takeOlderThan } from './retention.ts'
import { PLURALS } from './views.ts'

/** An upload lies on disk before its row is there. */
const STRAY_AFTER_MS = 86_400_000
const CRON = '40 4 * * *'
/** Folders of a user that hold uploads; the picture of an account lies beside them. */
const FOLDERS = [...Object.values(PLURALS), INCOMING]

/** ROMs that are in the library under the names their files remember. */
const REATTACH = `update assets a set rom_id = r.id from roms r join platforms p on p.id = r.platform_id
  where a.rom_id is null and p.fs_slug = a.platform_fs_slug and r.fs_name = a.rom_fs_name`
/** ROMs that were renamed or moved since. */
const FOLLOW = `update assets a set platform_fs_slug = p.fs_slug, rom_fs_name = r.fs_name
  from roms r join platforms p on p.id = r.platform_id
  where a.rom_id = r.id and (a.platform_fs_slug, a.rom_fs_name) is distinct from (p.fs_slug, r.fs_name)`
const STRAYS = `select path from unnest($1::text[]) as found(path)
  where not exists (select 1 from assets where disk_path = path)
    and not exists (select 1 from asset_versions where disk_path = path)`

/** What `list` gives; nothing while there is no such folder. */
async function orNothing<T> (list: Promise<T[]>): Promise<T[]> {
  return await list.catch((err: unknown) => {
    if (errorCode(err) === 'ENOENT') return []
    throw err
  })
}

async function listFiles (folder: string): Promise<string[]> {
  const entries = await orNothing(readdir(folder, { recursive: true, withFileTypes: true }))
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** Keeps the assets folder and its rows in line over time. */
export function createJanitor (app: FastifyInstance, config: Config, files: Files) {
  const closing = new AbortController()

  async function isOld (path: string): Promise<boolean> {
    try {
      return (await stat(path)).mtimeMs < Date.now() - STRAY_AFTER_MS
    } catch (err) {
      if (errorCode(err) === 'ENOENT') return false
      throw err
    }
  }

  async function findStrays (folder: string): Promise<string[]> {
    const old: string[] = []
    for (const path of await listFiles(folder)) if (await isOld(path)) old.push(path.slice(files.base.length + 1))
    if (old.length === 0) return []
    return (await app.pg.query<{ path: string }>(STRAYS, [old])).rows.map((row) => row.path)
  }

  /** Removes what was uploaded and never got a row, because the server died in between. */
  async function removeStrays (signal: AbortSignal): Promise<number> {
    const users = join(files.base, 'users')
    let removed = 0
    for (const user of await orNothing(readdir(users))) {
      for (const folder of FOLDERS) {
        signal.throwIfAborted()
        const strays = await findStrays(join(users, user, folder))
        await files.remove(strays)
        removed += strays.length
      }
    }
    return removed
  }

  async function clean (signal: AbortSignal) {
    const expired = await takeOlderThan(app.pg, config.assets.versions_kept_days)
    await files.remove(expired)
    return { expired: expired.length, strays: await removeStrays(signal) }
  }

  const definition: TaskDefinition = {
    name: 'cleanup_assets',
    title: 'Cleanup saves and states',
    description: 'Deletes former contents and deleted saves, states and screenshots that are no longer kept, and remains of broken uploads',
    type: 'cleanup',
    group: 'scheduled',
    enabled: true,
    manual_run: true,
    cron_string: CRON,
    destructive: true,
    isSingle: true,
    arguments: Type.Object({}, { additionalProperties: false }),
    async run ({ signal, report }) { await report({ cleanup_stats: await clean(signal) }) }
  }

  return {
    definition,

    /** Gives saves of a ROM that was gone to the one that is there again. */
    async reattach (): Promise<void> {
      await app.pg.query(FOLLOW)
      await app.pg.query(REATTACH)
    },

    /** Cleans up once when the worker starts, and stops with it. */
    startWithWorker (): void {
      let cleaning = Promise.resolve()
      app.addHook('onReady', async () => {
        cleaning = clean(closing.signal).then(() => {}, (err: unknown) => {
          if (!closing.signal.aborted) app.log.warn({ err }, 'the folder of saves could not be cleaned up; the daily task tries again')
        })
      })
      app.addHook('preClose', async () => {
        closing.abort()
        await cleaning
      })
    }
  }
}
