import { defineProvider, platformIds } from '@svc/plugin-sdk'
import { ConfigSchema, OptionsSchema } from './config.ts'
import { DUMP_TIMEOUT_MS, buildIndex } from './dump.ts'
import { findById, findByName, ofQuery, ofRom } from './find.ts'
import { MetadataSchema } from './metadata.ts'

export default defineProvider({
  key: 'launchbox',
  name: 'LaunchBox',
  id: 'integer',
  tag: 'launchbox',
  config: ConfigSchema,
  metadata: MetadataSchema,
  scanOptions: OptionsSchema,
  platforms: platformIds('launchbox_id'),
  attribution: 'Data and images of the LaunchBox Games Database, https://gamesdb.launchbox-app.com',
  // The first lookup waits for the download of the dump.
  limits: { concurrency: 8, timeoutMs: DUMP_TIMEOUT_MS },
  index: { build: buildIndex, titles: { mame: 'mame:' } },

  missing: ({ remote, installation }) => remote || installation !== undefined
    ? undefined
    : 'LAUNCHBOX_API_ENABLED to true, or LAUNCHBOX_FOLDER',

  identify: (rom, ctx) => findByName(ofRom(rom), ctx),

  getById: (id, rom, ctx) => findById(id, rom && ofRom(rom), ctx),

  search: async (query, ctx) => [await findByName(ofQuery(query), ctx)].filter((match) => match !== undefined),

  async heartbeat ({ config, folders, index }) {
    if (await folders.installation?.exists('Data/Platforms') === true) return true
    return config.remote && await index.builtAt() !== undefined
  }
})
