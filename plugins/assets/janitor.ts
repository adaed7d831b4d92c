import { mkdir, readdir, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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
const SETTLED = Object.values(PLURALS)
/** Where files go that no row names: after a restored database they may be all there is of somebody's saves. */
const LOST = 'lost'

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

  async function setAside (paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return
    const folder = join(files.base, LOST, new Date().toISOString().slice(0, 10))
    for (const path of paths) {
      const target = join(folder, path)
      await mkdir(dirname(target), { recursive: true })
      await rename(join(files.base, path), target).catch((err: unknown) => {
        // An account may be deleted at the same time.
        if (errorCode(err) !== 'ENOENT') throw err
      })
    }
    app.log.warn({ files: paths.length, folder }, 'files that the database does not know were put aside; ' +
      'delete them, or restore the database that knows them')
  }

  /** Removes what remained of broken uploads, and sets aside what is complete and has no row. */
  async function clearStrays (signal: AbortSignal) {
    const users = join(files.base, 'users')
    const cleared = { strays: 0, lost: 0 }
    for (const user of await orNothing(readdir(users))) {
      signal.throwIfAborted()
      const strays = await findStrays(join(users, user, INCOMING))
      await files.remove(strays)
      const lost: string[] = []
      for (const folder of SETTLED) lost.push(...await findStrays(join(users, user, folder)))
      await setAside(lost)
      cleared.strays += strays.length
      cleared.lost += lost.length
    }
    return cleared
  }

  async function clean (signal: AbortSignal) {
    const expired = await takeOlderThan(app.pg, config.assets.versions_kept_days)
    await files.remove(expired)
    return { expired: expired.length, ...await clearStrays(signal) }
  }

  const definition: TaskDefinition = {
    name: 'cleanup_assets',
    title: 'Cleanup saves and states',
    description: 'Deletes former contents and deleted saves, states and screenshots that are no longer kept, and remains of broken uploads; puts ' +
      'files that the database does not know aside under assets/lost',
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
