import { readdir } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import { until } from '../../until.ts'
import { buildScanTest } from '../scans/support.ts'
import { buildWorker } from '../tasks/workers-support.ts'

export const latin = (text: string) => Buffer.from(text).toString('latin1')

export interface Answer { status: number, body: { detail?: unknown, upload_id?: string } & Record<string, unknown> }

/** Returns bytes without repetitions. */
export function content (size: number): Buffer {
  const bytes = Buffer.alloc(size)
  for (let at = 0; at < size; at++) bytes[at] = (at * 7 + (at >> 8) * 13 + (at >> 16)) & 255
  return bytes
}
export const cut = (bytes: Buffer, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_none, i) => bytes.subarray(i * size, (i + 1) * size))

export async function startUploads (t: Test) {
  const test = await buildScanTest(t, {
    providers: [], env: { ROM_UPLOAD_QUOTA_BYTES: '6200000000000', MAX_ROM_UPLOAD_SIZE_BYTES: '9000000000000' }
  })
  const { app, admin, createUser, libraryDir, put, roms, sql, scan } = test
  const other = await buildWorker(test, 2)
  t.teardown(() => other.close())
  await other.ready()
  for (const one of [app, other]) await one.listen({ port: 0, host: '127.0.0.1' })
  const addresses = [app, other].map((one) => `http://127.0.0.1:${(one.server.address() as AddressInfo).port}`)
  let turn = 0
  /** Returns the addresses of the web workers in turn. */
  const base = () => addresses[turn++ % addresses.length] ?? ''

  await put({ 'roms/snes/First.sfc': 'first', 'bios/x': '' })
  await scan()
  const platform = async (slug = 'snes') =>
    (await sql<{ id: number }>('select id from platforms where fs_slug = $1', [slug]))[0]?.id ?? 0
  const path = (...names: string[]) => join(libraryDir, 'roms', 'snes', ...names)
  async function call (method: string, route: string, headers: Record<string, string>, body?: Buffer): Promise<Answer> {
    const sent = body === undefined ? {} : { body: new Uint8Array(body) }
    const answer = await fetch(`${base()}/api/roms${route}`, { method, headers: { ...admin, ...headers }, ...sent })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text) as Answer['body'] }
  }

  async function startUpload (
    name: string, size: number, chunks: number, more: Record<string, string> = {}
  ): Promise<Answer> {
    return await call('POST', '/upload/start', {
      'x-upload-platform': String(await platform()),
      'x-upload-filename': latin(name),
      'x-upload-total-size': String(size),
      'x-upload-total-chunks': String(chunks),
      ...more
    })
  }
  const send = (id: string, index: number, body: Buffer, more: Record<string, string> = {}) =>
    call('PUT', `/upload/${id}`, { 'content-type': 'application/octet-stream', 'x-chunk-index': String(index), ...more }, body)
  const complete = (id: string, more: Record<string, string> = {}) => call('POST', `/upload/${id}/complete`, more)

  async function begin (name: string, size: number, chunks: number): Promise<string> {
    const { status, body } = await startUpload(name, size, chunks)
    if (status !== 201 || body.upload_id === undefined) throw new Error(`${status} ${JSON.stringify(body)}`)
    return body.upload_id
  }
  const scanned = (name: string) => until(async () => (await roms('snes')).find((rom) => rom.fs_name === name && rom.sha1_hash !== ''), `the ROM ${name}`)
  const staged = async () => (await readdir(path())).filter((name) => name.endsWith('.part'))
  return {
    test, app, admin, createUser, libraryDir, put, roms, sql, scan, base, platform, path, call, startUpload, send,
    complete, begin, scanned, staged
  }
}
