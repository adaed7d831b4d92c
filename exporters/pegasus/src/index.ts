import { defineExporter, Type } from '@svc/plugin-sdk'
import { MEDIA_FOLDERS } from './media.ts'
import { renderPegasus } from './render.ts'

export default defineExporter({
  key: 'pegasus',
  name: 'Pegasus metadata file',
  fileName: 'metadata.pegasus.txt',
  media: MEDIA_FOLDERS,
  config: Type.Object({
    launch: Type.Optional(Type.Record(Type.String(), Type.String(), {
      description: 'Platform slug → the command that starts a game, such as `retroarch -L core.so "{file.path}"`'
    }))
  }),

  async render (platform, games, existing, { config }) {
    return renderPegasus(platform, games, existing, config.launch?.[platform.slug] ?? null)
  }
})
