import { stat } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { isHashCrash } from './hash-errors.ts'
import type { HashPath, Hasher } from './hasher.ts'
import { CrashedFile } from './entities.ts'

type CrashRecord = Pick<CrashedFile, 'path' | 'size_bytes' | 'modified_ms' | 'reason'>

const keyOf = (path: HashPath) => typeof path === 'string' ? path : Buffer.from(path).toString()
const signalOf = ({ signal }: { signal?: AbortSignal }) => signal === undefined ? {} : { signal }
const explain = (reason: string) => `${reason}; the server reads its content again only after the file changes`

async function readState (path: HashPath) {
  const { size, mtimeMs } = await stat(typeof path === 'string' ? path : Buffer.from(path))
  return { size_bytes: size, modified_ms: Math.round(mtimeMs) }
}

/** Creates access to the stored crashes; a scan reads the rows once. */
function createRows (app: FastifyInstance) {
  const db = app.db
  let loading: Promise<Map<string, CrashRecord>> | null = null

  async function read (): Promise<Map<string, CrashRecord>> {
    return new Map((await db.em.find(CrashedFile, {})).map((row) => [row.path, row]))
  }

  async function load (): Promise<Map<string, CrashRecord>> {
    loading ??= read()
    try {
      return await loading
    } catch (err) {
      loading = null
      throw err
    }
  }

  return {
    /** Returns why the file is skipped, or undefined. Deletes the row of a file that changed since its crash. */
    async find (path: HashPath): Promise<string | undefined> {
      const rows = await load()
      const row = rows.get(keyOf(path))
      if (row === undefined) return undefined
      // If the file is gone, hashing it reports the error.
      const now = await readState(path).catch(() => null)
      if (now?.size_bytes === row.size_bytes && now.modified_ms === row.modified_ms) return explain(row.reason)
      rows.delete(row.path)
      await db.em.nativeDelete(CrashedFile, { path: row.path })
      return undefined
    },

    async add (path: HashPath, crash: unknown): Promise<string> {
      const reason = crash instanceof Error ? crash.message : String(crash)
      const row = { path: keyOf(path), ...await readState(path), reason }
      await db.em.upsert(CrashedFile, row)
      ;(await load()).set(row.path, row)
      app.log.error({ path: row.path, reason: row.reason }, 'a file cannot be read; it is skipped until it changes')
      return explain(row.reason)
    }
  }
}

/** Wraps a hasher to skip the content of files that once crashed it: such a file counts with its own bytes. */
export function skipCrashedFiles (app: FastifyInstance, hasher: Hasher): Hasher {
  const rows = createRows(app)

  const hashFile: Hasher['hashFile'] = async (path, options = {}) => {
    const raw = await rows.find(path)
    if (raw !== undefined) return await hasher.hashFile(path, { ...options, raw })
    try {
      return await hasher.hashFile(path, options)
    } catch (err) {
      if (!isHashCrash(err)) throw err
      return await hasher.hashFile(path, { ...options, raw: await rows.add(path, err) })
    }
  }

  const hashKnown: Hasher['hashGroup'] = async (paths, options) => {
    const raw = await Promise.all(paths.map((path) => rows.find(path)))
    return await hasher.hashGroup(paths, { ...options, raw })
  }

  return {
    hashFile,
    async hashGroup (paths, options = {}) {
      try {
        return await hashKnown(paths, options)
      } catch (err) {
        if (!isHashCrash(err)) throw err
        // Hash the files one by one to find the one that crashed. The group reports their other errors.
        for (const path of paths) await hashFile(path, { ...signalOf(options), members: 'largest' }).catch(() => {})
        return await hashKnown(paths, options)
      }
    },
    async hashRetroAchievements (path, console, options) {
      const known = await rows.find(path)
      if (known !== undefined) return { ra_hash: null, warning: known }
      try {
        return await hasher.hashRetroAchievements(path, console, options)
      } catch (err) {
        if (!isHashCrash(err)) throw err
        return { ra_hash: null, warning: await rows.add(path, err) }
      }
    },
    prepare: () => { hasher.prepare() },
    close: () => hasher.close()
  }
}
