import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { readFile, readdir, rename, rm, stat } from 'node:fs/promises'
import { isAbsolute, join, parse, relative, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import {
  type HeldRom, type Operation, type PlaySession, type Session, complete, download, listRoms, negotiate, upload
} from './server.ts'

/** Play sessions since the last sync, one JSON array, which the game launcher writes. */
const PLAYS = '.plays.json'
/** Play sessions in transit, in a separate file because the launcher may write new ones meanwhile. */
const SENDING = '.plays.sending.json'

async function sha1Of (path: string): Promise<string> {
  const hash = createHash('sha1')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/**
 * Lists the saves in the folder by ROM. Skips files that belong to no ROM of the server, and files that could belong
 * to several. ROMs without a save are listed too, because this app wants the server's saves for them. An app with
 * only some games lists only those.
 */
async function readHeld (
  folder: string, roms: ReadonlyMap<string, readonly number[]>, tell: (line: string) => void
): Promise<HeldRom[]> {
  const held = new Map<string, HeldRom>()
  for (const [name, [id, ...others]] of roms) {
    if (id !== undefined && others.length === 0) held.set(name, { rom_id: id, saves: [] })
  }
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const { name } = parse(entry.name)
    if (!entry.isFile() || !roms.has(name)) continue
    const rom = held.get(name)
    if (rom === undefined) {
      tell(`skipped ${entry.name}: several games have this name`)
      continue
    }
    const path = join(folder, entry.name)
    const { mtime } = await stat(path)
    rom.saves.push({ file: entry.name, mtime: mtime.toISOString(), sha1: await sha1Of(path) })
  }
  return [...held.values()]
}

/** Resolves the destination of a download. A path from the server must never lead outside the folder. */
function resolveTarget (folder: string, { dest_path: path = '', file }: Operation): string {
  const place = resolve(folder, path)
  const inside = relative(folder, place)
  // A path on another drive has no relative form.
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    throw new Error(`'${file}' is to be written to '${place}', which is outside '${folder}'`)
  }
  return place
}

/** Refuses to replace a save that changed since the negotiation, because a game may be running. */
async function refuseChanged (path: string, told: string | undefined): Promise<void> {
  const now = existsSync(path) ? await sha1Of(path) : undefined
  if (now !== told) throw new Error(`'${path}' changed meanwhile; the next run takes it up`)
}

async function carryOut (
  session: Session, folder: string, operation: Operation, told: ReadonlyMap<string, string>
): Promise<void> {
  const { type, file, destination, source, resolution } = operation
  const sends = type === 'upload' || type === 'conflict'
  const fetches = type === 'download' || (type === 'conflict' && resolution !== 'device_wins')
  // The upload goes first, because the server must have the local file before a download replaces it.
  if (sends && destination !== undefined) await upload(session, destination, join(folder, file))
  if (fetches && source !== undefined) {
    const place = resolveTarget(folder, operation)
    await refuseChanged(place, told.get(file))
    await download(session, source, place)
  }
}

/** Loads the play sessions to send. Sessions of an earlier run that the server never confirmed come first. */
async function loadPlays (folder: string): Promise<PlaySession[]> {
  const [written, sending] = [join(folder, PLAYS), join(folder, SENDING)]
  if (!existsSync(sending) && existsSync(written)) await rename(written, sending)
  return existsSync(sending) ? JSON.parse(await readFile(sending, 'utf8')) as PlaySession[] : []
}

/** Runs one sync: lists local saves, carries out the server's operations, and reports the result. */
export async function sync (
  session: Session, folder: string, tell: (line: string) => void
): Promise<{ done: number, failed: number }> {
  const held = await readHeld(folder, await listRoms(session), tell)
  const told = new Map(held.flatMap((rom) => rom.saves.map((save) => [save.file, save.sha1])))
  const { session_id: id, operations } = await negotiate(session, held)
  let done = 0
  let failed = 0
  for (const operation of operations.filter(({ type }) => type !== 'noop')) {
    try {
      await carryOut(session, folder, operation, told)
      done++
      tell(`${operation.type} ${operation.file}`)
    } catch (err) {
      failed++
      tell(`${operation.type} ${operation.file} failed: ${err instanceof Error ? err.message : String(err)}`)
    }
  }
  await complete(session, id, { done, failed, plays: await loadPlays(folder) })
  await rm(join(folder, SENDING), { force: true })
  return { done, failed }
}
