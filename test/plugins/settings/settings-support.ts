import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestApp } from '../../support.ts'

export type Shown = Record<string, unknown>

export const SCAN = {
  metadata_priority: ['igdb', 'ss'],
  artwork_priority: ['sgdb', 'igdb'],
  region_priority: ['us'],
  language_priority: ['en'],
  media: ['box2d'],
  gamelist_export: false,
  pegasus_export: false,
  gamelist_thumbnail: 'box2d',
  gamelist_image: 'screenshot'
}

export function open (test: TestApp) {
  const { app, admin, config } = test
  const file = join(config.data_dir, 'config.yml')
  return {
    file,
    write: (text: string) => writeFile(file, text),
    text: () => readFile(file, 'utf8'),
    show: async (headers: object = admin) => (await app.inject({ url: '/api/config', headers: { ...headers } })).json<Shown>(),
    async call (method: 'POST' | 'PUT' | 'DELETE', path: string, payload?: object, headers = admin) {
      const reply = await app.inject({ method, url: `/api/config/${path}`, headers, ...(payload === undefined ? {} : { payload }) })
      return { status: reply.statusCode, body: reply.json<{ detail: string } | null>() }
    }
  }
}

/** Calls the settings of one plugin. */
export const openPlugin = ({ app, admin }: Pick<TestApp, 'app' | 'admin'>, plugin: string) => ({
  async call (method: 'GET' | 'PUT' | 'DELETE', payload?: object, headers: object = admin) {
    const reply = await app.inject({
      method, url: `/api/plugins/${plugin}/settings`, headers: { ...headers }, ...(payload === undefined ? {} : { payload })
    })
    return { status: reply.statusCode, body: reply.json<Shown>(), text: reply.body }
  },
  test: async () => (await app.inject({
    method: 'POST', url: `/api/heartbeat/metadata/${plugin.split('/')[1]}`, headers: admin
  })).json<{ answers: boolean, problem: string | null }>()
})
