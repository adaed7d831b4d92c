import { createWriteStream, openAsBlob } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export interface Login { base: string, token: string }
export interface Session extends Login { device_id: number }

/** An action that the server requests for one file. */
export interface Operation {
  type: 'upload' | 'download' | 'conflict' | 'noop'
  rom_id: number
  file: string
  /** Path to which the device POSTs its file. */
  destination?: string
  /** Path to GET the server's file, and its destination on the device. */
  source?: string
  dest_path?: string
  resolution?: 'keep_both' | 'server_wins' | 'device_wins'
}

export interface HeldRom { rom_id: number, saves: { file: string, mtime: string, sha1: string }[] }
export interface PlaySession { rom_id: number, start: string, end: string, duration_seconds: number }

async function call ({ base, token }: Login, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${token}`)
  const answer = await fetch(base + path, { ...init, headers })
  if (!answer.ok) throw new Error(`${init.method ?? 'GET'} ${path} answered ${answer.status}: ${await answer.text()}`)
  return answer
}

const post = (body: unknown): RequestInit => ({
  method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body)
})

/** Exchanges a code, which the owner reads out, for a token of this device. */
export async function exchangeCode (base: string, code: string): Promise<string> {
  const answer = await fetch(`${base}/api/client-tokens/exchange`, post({ code }))
  if (!answer.ok) throw new Error(`The code '${code}' was refused: ${await answer.text()}`)
  return (await answer.json() as { raw_token: string }).raw_token
}

export async function registerDevice (login: Login, device: object): Promise<{ id: number }> {
  return await (await call(login, '/api/devices', post(device))).json() as { id: number }
}

/**
 * Lists the ROMs by file name without its extension, because saves are named after them. Games on two platforms may
 * share a name.
 */
export async function listRoms (session: Session): Promise<Map<string, number[]>> {
  const byName = new Map<string, number[]>()
  for (let offset = 0; ; offset += 500) {
    const answer = await call(session, `/api/roms?limit=500&offset=${offset}`)
    const { items } = await answer.json() as { items: { id: number, fs_name_no_ext: string }[] }
    for (const { id, fs_name_no_ext: name } of items) byName.set(name, [...byName.get(name) ?? [], id])
    if (items.length < 500) return byName
  }
}

export async function negotiate (
  session: Session, roms: HeldRom[]
): Promise<{ session_id: string, operations: Operation[] }> {
  const answer = await call(session, '/api/sync/negotiate', post({ device_id: session.device_id, roms }))
  return await answer.json() as { session_id: string, operations: Operation[] }
}

export async function upload (session: Session, destination: string, path: string): Promise<void> {
  const form = new FormData()
  form.append('saveFile', await openAsBlob(path), basename(path))
  await call(session, destination, { method: 'POST', body: form })
}

/** Downloads a file via a temporary one, so a device that is switched off meanwhile keeps its old file. */
export async function download (session: Session, source: string, path: string): Promise<void> {
  const { body } = await call(session, source)
  const part = `${path}.part`
  try {
    await pipeline(Readable.fromWeb(body as never), createWriteStream(part, { flush: true }))
    await rename(part, path)
  } finally {
    await rm(part, { force: true })
  }
}

/** Completes a session. Safe to repeat after a lost response, because the server accepts it once. */
export async function complete (
  session: Session, id: string, result: { done: number, failed: number, plays: PlaySession[] }
): Promise<void> {
  await call(session, `/api/sync/sessions/${id}/complete`, post({
    operations_completed: result.done, operations_failed: result.failed, play_sessions: result.plays
  }))
}
