import type { Test } from 'tap'
import { shareTestApp } from '../../support.ts'
import { createClient, type AssetItem } from '../assets/support.ts'
import { createRetroArch } from './support.ts'

export const SAVE = 'saves/Snes9x/Game (USA).srm'
export const [ONE, TWO, THREE] = [Buffer.from('one'), Buffer.from('two'), Buffer.from('three')]

export const listSaves = (client: ReturnType<typeof createClient>) => client.get<AssetItem[]>('/api/saves')
export interface FileItem {
  id: number
  path: string
  rom_id: number | null
  asset_id: number | null
  is_deleted: boolean
  candidates?: { rom_id: number }[]
}
export const listFiles = (client: ReturnType<typeof createClient>, more = '') => client.get<FileItem[]>(`/api/webdav/files${more}`)

export async function startWebdav (t: Test) {
  const fresh = shareTestApp(t, { worker: true, env: { WEBDAV_QUOTA_BYTES: '4096' } })

  async function start (t: Test, names: readonly string[] = ['Deck', 'Phone']) {
    const test = await fresh(t)
    const devices = []
    for (const name of names) devices.push(await createRetroArch(t, test, test.admin, name))
    const [deck, phone] = devices
    if (deck === undefined || phone === undefined) throw new Error('Two devices are needed')
    return { test, deck, phone, client: createClient(test, test.admin) }
  }
  return { fresh, start }
}
