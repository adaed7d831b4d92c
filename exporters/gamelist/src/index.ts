import { defineExporter, Type } from '@svc/plugin-sdk'
import { IMAGE_KINDS, MEDIA_FOLDERS, THUMBNAIL_KINDS, chooseMedia } from './media.ts'
import { renderGamelist } from './render.ts'

export default defineExporter({
  key: 'gamelist',
  name: 'EmulationStation gamelist.xml',
  fileName: 'gamelist.xml',
  route: 'gamelist-xml',
  media: MEDIA_FOLDERS,
  config: Type.Object({
    media: Type.Optional(Type.Object({
      thumbnail: Type.Optional(Type.String({
        default: 'box2d', description: `The picture in \`thumbnail\`: ${THUMBNAIL_KINDS.join(', ')}`
      })),
      image: Type.Optional(Type.String({
        default: 'screenshot', description: `The picture in \`image\`: ${IMAGE_KINDS.join(', ')}`
      }))
    }, { description: 'The kinds of media of the two pictures of an entry' }))
  }),

  async render (_platform, games, existing, { config, log }) {
    return renderGamelist(games, existing, chooseMedia(config.media ?? {}, log))
  }
})
