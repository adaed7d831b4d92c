import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { extname } from 'node:path/posix'
import PQueue from 'p-queue'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { callerOf } from '../../core/access/auth.ts'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { ApiError, badRequest, notFound } from '../../core/errors.ts'
import { countRoom } from '../../core/files/free-space.ts'
import { stemOf } from '../../core/files/stem-of.ts'
import { createAloneQueue } from '../../core/jobs/alone-queue.ts'
import { patchesConfig } from './config.ts'
import { type StoredFile, openStoredFile } from '../roms/stored-files.ts'
import { applyInThread } from './apply-in-thread.ts'
import { PATCH_EXTENSIONS } from './extensions.ts'
import { type PatchForm, type NamedFile, readPatchForm } from './form.ts'
import type { OpenFile } from './protocol.ts'
import { selectStoredFiles } from './rows.ts'
import { openNameless } from './temporary.ts'
import { findOpener } from './unpack-base.ts'

/** A patched file, open and without a name on disk. */
export interface PatchedFile { handle: FileHandle, fileName: string, isValid: boolean }

/** The most patches of one user that wait for a running one, in each web worker. */
const WAITING_MAX = 4

/** Returns the requested name, or one that names base and patch. @param extension the one of the patched file */
function nameOutput (base: string, extension: string, patch: string, requestedName: string): string {
  const last = requestedName.slice(Math.max(requestedName.lastIndexOf('/'), requestedName.lastIndexOf('\\')) + 1).trim()
  const stem = last === '' ? `${stemOf(base)} (patched-${stemOf(patch)})` : stemOf(last)
  return `${stem}${extension}`
}

function checkFormat (name: string): void {
  if (PATCH_EXTENSIONS.includes(extname(name).slice(1).toLowerCase())) return
  throw badRequest(`The patch '${name.slice(0, 300)}' is not in a known format; its name must end with ` +
    PATCH_EXTENSIONS.map((extension) => `.${extension}`).join(', '))
}

/** Opens a stored file. @throws ApiError NOT_FOUND if the file is missing on disk, UNAVAILABLE if the disk is */
async function openOf (app: FastifyInstance, file: StoredFile, what: 'ROM' | 'Patch'): Promise<FileHandle> {
  try {
    return await openStoredFile(app.library, file)
  } catch (err) {
    if (!(err instanceof ApiError) || err.code !== 'NOT_FOUND') throw err
    throw notFound(`${what} file '${file.file_name}' is missing from filesystem`)
  }
}

async function toOpenFile (maxBytes: number, { handle, name }: NamedFile): Promise<OpenFile> {
  const { size } = await handle.stat()
  if (size <= maxBytes) return { fd: handle.fd, size }
  throw badRequest(`'${name}' has ${size} bytes; ${maxBytes} are allowed. Raise ROM_PATCHER_MAX_FILE_SIZE_BYTES to patch it`)
}

/** The folder of patched files, and the limits of each patch. */
interface PatchLimits { folder: string, maxBytes: number, timeout: number }

/** Applies a patch to a base, or to the only file in it if it is an archive; both are open files with a name. */
async function apply (
  { folder, maxBytes, timeout }: PatchLimits, base: NamedFile, patch: NamedFile, requestedName: string
): Promise<PatchedFile> {
  const files = {
    base: await toOpenFile(maxBytes, base), patch: await toOpenFile(maxBytes, patch)
  }
  if (files.patch.size === 0) throw badRequest(`The patch '${patch.name}' is empty; send a patch with content`)
  const unpacked = findOpener(base.name) === null ? null : await openNameless(folder)
  const handle = await openNameless(folder)
  try {
    const [roomBytes, baseName] = [await countRoom(folder), base.name]
    const job = { ...files, baseName, unpacked: unpacked?.fd ?? null, output: handle.fd, maxBytes, roomBytes }
    const { isValid, baseName: patchedName } = await applyInThread(job, timeout)
    return { handle, fileName: nameOutput(baseName, extname(patchedName), patch.name, requestedName), isValid }
  } catch (err) {
    await handle.close()
    throw err
  } finally {
    await unpacked?.close()
  }
}

/** Opens the patch of the library, or returns the uploaded one. */
async function openPatch (
  app: FastifyInstance, form: PatchForm, stored: StoredFile | undefined
): Promise<NamedFile> {
  if (typeof form.patch !== 'number') return form.patch
  if (stored === undefined) throw notFound(`Patch file with id ${form.patch} not found`)
  checkFormat(stored.file_name)
  return { name: stored.file_name, handle: await openOf(app, stored, 'Patch') }
}

export function createPatches (app: FastifyInstance, config: Config) {
  const settings = patchesConfig.of(config)
  const { max_file_size_bytes: maxBytes, timeout_seconds: timeout, max_concurrency: concurrency } = settings
  const folder = join(config.data_dir, 'patching')
  const limits = { folder, maxBytes, timeout }
  const queue = new PQueue({ concurrency })
  const runAlone = createAloneQueue(app.workers, WAITING_MAX, 'patches')

  async function patchFile (context: Context, fileId: number, form: PatchForm): Promise<PatchedFile> {
    const ids = typeof form.patch === 'number' ? [fileId, form.patch] : [fileId]
    const stored = await selectStoredFiles(context, ids)
    const base = stored.get(fileId)
    if (base === undefined) throw notFound(`ROM file with id ${fileId} not found`)
    if (typeof form.patch !== 'number') checkFormat(form.patch.name)
    const baseHandle = await openOf(app, base, 'ROM')
    try {
      const patch = await openPatch(app, form, stored.get(ids[1] ?? 0))
      try {
        const named = { name: base.file_name, handle: baseHandle }
        return await queue.add(() => apply(limits, named, patch, form.outputName))
      } finally {
        if (typeof form.patch === 'number') await patch.handle.close()
      }
    } finally {
      await baseHandle.close()
    }
  }

  return {
    /** Patches a file of the library as a form asks, without changing the library. The caller closes the handle. */
    async patch (request: FastifyRequest, fileId: number): Promise<PatchedFile> {
      const caller = callerOf(request)
      // Requests of a user run one after the other, because they would otherwise fill the disk or the shared queue.
      return await runAlone(`patches of user ${caller.id}`, async () => {
        const form = await readPatchForm(request, folder, maxBytes)
        try {
          return await patchFile({ db: request.db, caller }, fileId, form)
        } finally {
          if (typeof form.patch !== 'number') await form.patch.handle.close()
        }
      })
    }
  }
}
