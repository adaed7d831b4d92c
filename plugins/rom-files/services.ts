import type { FastifyInstance } from 'fastify'
import type { Tagger } from './tags/tagger.ts'

/** The services that the functions of this feature use: the server, the tag reader, and the folder of artwork and manuals. */
export interface RomFileServices {
  app: FastifyInstance
  tagger: Tagger
  resourcesDir: string
}
