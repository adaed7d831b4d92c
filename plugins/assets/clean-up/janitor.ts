import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { databaseNow } from '../../../core/database/clock.ts'
import type { Config } from '../../../core/config/config.ts'
import { conflict } from '../../../core/errors.ts'
import { assetsConfig } from '../config.ts'
import { defineCleanup } from '../../tasks/cleanup.ts'
import type { TaskDefinition } from '../../tasks/definitions.ts'
import { deleteExpiredAccounts } from '../restore/deleted-account-rows.ts'
import { LEFTOVER_AFTER_MS, checkFolder } from './check-folder.ts'
import { readClock } from './janitor-rows.ts'
import { findLaterCheck, findObjection } from './safety-checks.ts'
import type { Files } from '../asset-files.ts'
import type { FeatureFolder } from '../stored-files.ts'
import { setAside } from './orphaned-files.ts'
import { deleteOlderThan, deleteByAge } from './retention-rows.ts'

const CRON = '40 4 * * *'
/** Maximum number of unknown files that a report names; it always includes their count. */
const NAMED_MAX = 100

function warnUnknown ({ log }: FastifyInstance, unknown: readonly string[]): void {
  if (unknown.length === 0) return
  log.warn({ count: unknown.length, files: unknown.slice(0, NAMED_MAX) },
    'the database has no rows for some files of users, which stay unchanged. Restore the database with their rows, ' +
    'or run cleanup_assets with set_aside to move the files to assets/lost')
}

/** Keeps the assets folder and its rows consistent. Nothing is deleted while a safety check fails. */
export function createJanitor (app: FastifyInstance, config: Config, files: Files) {
  const closing = new AbortController()
  const { store } = files
  const features: FeatureFolder[] = []

  async function remove (): Promise<number> {
    const deletedPaths = [
      ...await deleteOlderThan(app.db, assetsConfig.of(config).versions_kept_days),
      ...await deleteExpiredAccounts(app.db),
      ...await deleteByAge(app.db, assetsConfig.of(config).versions_kept)
    ]
    await files.remove(deletedPaths)
    return deletedPaths.length
  }

  async function clean (signal: AbortSignal, movesUnknown: boolean) {
    const { strays, unknown, orphans, known, recovered } = await checkFolder(app, config, { store, features, signal })
    const objection = await findObjection(app.db, app.workers.id, known, unknown.length + orphans.length)
    const found = {
      unknown: unknown.length, unknown_files: unknown.slice(0, NAMED_MAX), recovered, postponed: objection
    }
    if (objection !== null) {
      warnUnknown(app, unknown)
      return { ...found, expired: 0, strays: 0, lost: 0 }
    }
    const expired = await remove()
    const remains = [...strays, ...orphans]
    await files.remove(remains)
    await store.sweep(new Date(Date.now() - LEFTOVER_AFTER_MS))
    if (movesUnknown) await setAside(store, unknown)
    else warnUnknown(app, unknown)
    return { ...found, expired, strays: remains.length, lost: movesUnknown ? unknown.length : 0 }
  }

  const definition: TaskDefinition = defineCleanup({
    name: 'cleanup_assets',
    title: 'Cleanup saves and states',
    description: 'Deletes expired versions and expired deleted saves, states and screenshots, also those of ' +
      'deleted accounts, and remains of broken uploads; lists files without a row in the database, and with set_aside moves them to assets/lost',
    cron_string: CRON,
    destructive: { scope: 'assets.write', grant: ['assets', 'delete'] },
    arguments: Type.Object({ set_aside: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
    async run ({ signal, report, payload }) {
      const movesUnknown = payload.set_aside === true
      const stats = await clean(signal, movesUnknown)
      await report({ cleanup_stats: stats })
      if (movesUnknown && stats.postponed !== null) throw conflict(`No file was moved to assets/lost: ${stats.postponed}`)
    }
  })

  return {
    definition,

    /** Adds a folder of another feature. Files in it that no row names are deleted. */
    addFolder (folder: FeatureFolder): void { features.push(folder) },

    /**
     * Runs the clean-up at the start of the server and again after the first hour, because some servers never run at
     * night. Meanwhile the worker may rest.
     */
    startWithWorker (): void {
      let working = Promise.resolve()
      let isWorking = false
      let timer: NodeJS.Timeout | undefined
      let laterAt: number | null = null
      const start = () => {
        isWorking = true
        working = clean(closing.signal, false).then(() => {}, (err: unknown) => {
          if (!closing.signal.aborted) app.log.warn({ err }, 'the folder of saves could not be cleaned up; the daily task retries')
        }).finally(() => { isWorking = false })
      }
      app.rest.addSource({ name: 'the clean-up of saves', hasWork: () => isWorking, findNext: () => laterAt })
      app.addHook('onReady', async () => {
        const laterMs = findLaterCheck(await readClock(app.db, app.workers.id))
        if (!app.rest.isWoken) start()
        if (laterMs === null) return
        laterAt = databaseNow() + laterMs
        timer = setTimeout(() => {
          laterAt = null
          start()
        }, laterMs).unref()
      })
      app.addHook('preClose', async () => {
        closing.abort()
        clearTimeout(timer)
        await working
      })
    }
  }
}
export type Janitor = ReturnType<typeof createJanitor>
