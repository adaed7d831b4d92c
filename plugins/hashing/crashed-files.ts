import { stat } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { isHashCrash } from './hash-errors.ts'
import type { HashPath, Hasher } from './hasher.ts'
import { CrashedFile } from './entities.ts'

type Remembered = Pick<CrashedFile, 'path' | 'size_bytes' | 'modified_ms' | 'reason'>

const keyOf = (path: HashPath) => typeof path === 'string' ? path : Buffer.from(path).toString()
const signalOf = ({ signal }: { signal?: AbortSignal }) => signal === undefined ? {} : { signal }
const explain = (reason: string) => `${reason}; its content is not read again until the file changes`

async function readState (path: HashPath) {
  const { size, mtimeMs } = await stat(typeof path === 'string' ? path : Buffer.from(path))
  return { size_bytes: size, modified_ms: Math.round(mtimeMs) }
}

/** The rows of one scan, read once. */
function createRows (app: FastifyInstance) {
  const em = app.orm.em.fork()
  let loading: Promise<Map<string, Remembered>> | null = null

  async function read (): Promise<Map<string, Remembered>> {
    return new Map((await em.find(CrashedFile, {})).map((row) => [row.path, row]))
  }

  async function load (): Promise<Map<string, Remembered>> {
    loading ??= read()
    try {
      return await loading
    } catch (err) {
      loading = null
      throw err
    }
  }

  return {
    /** Why the file is left alone, or undefined. One that changed since is forgotten. */
    async find (path: HashPath): Promise<string | undefined> {
      const rows = await load()
      const row = rows.get(keyOf(path))
      if (row === undefined) return undefined
      // Of a file that is gone, whoever hashes it says so.
      const now = await readState(path).catch(() => null)
      if (now?.size_bytes === row.size_bytes && now.modified_ms === row.modified_ms) return explain(row.reason)
      rows.delete(row.path)
      await em.nativeDelete(CrashedFile, { path: row.path })
      return undefined
    },

    async add (path: HashPath, crash: unknown): Promise<string> {
      const reason = crash instanceof Error ? crash.message : String(crash)
      const row = { path: keyOf(path), ...await readState(path), reason }
      await em.upsert(CrashedFile, row)
      ;(await load()).set(row.path, row)
      app.log.error({ path: row.path, reason: row.reason }, 'a file cannot be read and is left alone from now on')
      return explain(row.reason)
    }
  }
}

/** The same hasher, which reads no file twice that ended its process: such a file counts with its own bytes. */
export function rememberCrashes (app: FastifyInstance, hasher: Hasher): Hasher {
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
        // One by one, so that the one that did it is found; what else is wrong with them the group tells.
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
    close: () => hasher.close()
  }
}
