import { type Part, createForm } from '../assets/support.ts'
import { type TestApp } from '../../support.ts'
import { ENCODERS } from './support.ts'
import { addRom } from '../roms/support.ts'

export const [BASE, RESULT] = [Buffer.from('The base of everything.'), Buffer.from('The result of everything, and longer.')]
export const PATCH = ENCODERS.bps?.(BASE, RESULT) ?? Buffer.alloc(0)
export const LIBRARY = { roms: { snes: { 'Game (USA).sfc': BASE, Hack: { patch: { 'Fix.bps': PATCH, 'Fix.txt': 'x' } } } } }

export async function fileIdsOf ({ app }: TestApp): Promise<Record<string, number>> {
  const { rows } = await app.pg.query<{ id: number, file_name: string }>('select id, file_name from rom_files')
  return Object.fromEntries(rows.map((row) => [row.file_name, row.id]))
}

export async function fill (test: TestApp): Promise<Record<string, number>> {
  await addRom(test, { fs_name: 'Game (USA).sfc' })
  await addRom(test, { fs_name: 'Hack', files: ['patch/Fix.bps', 'patch/Fix.txt'] })
  return await fileIdsOf(test)
}

export async function patch (
  { app, admin }: TestApp, fileId: number | undefined, parts: readonly Part[], headers = admin
) {
  const form = createForm(parts)
  return await app.inject({
    method: 'POST', url: `/api/roms/${fileId}/patch`, headers: { ...headers, ...form.headers }, payload: form.payload
  })
}
export const sent = (content: Buffer | string = PATCH, fileName = 'Translation.bps'): Part => ({ name: 'patch_file', fileName, content })
