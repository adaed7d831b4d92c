import { Type } from '@sinclair/typebox'
import { Bytes, ErrorSchema, type Routes, idOf } from '../../core/typebox.ts'
import { PATCH_EXTENSIONS } from './extensions.ts'

const Params = Type.Object({ file_id: idOf('a file of a ROM') })
const PatchForm = Type.Object({
  patch_file_id: Type.Optional(idOf('a patch in the library')),
  patch_file: Type.Optional(Bytes),
  output_file_name: Type.Optional(Type.String())
}, { title: 'PatchForm' })

const routes: Routes = async (app) => {
  app.post('/api/roms/:file_id/patch', {
    schema: {
      operationId: 'patchRomFile',
      tags: ['roms'],
      summary: 'Download a file of a ROM with a patch applied',
      description: 'A form with either `patch_file_id`, the id of a patch in the library, or the part `patch_file`, and ' +
        `\`output_file_name\` if you want. Formats: ${PATCH_EXTENSIONS.join(', ')}. Nothing is stored. The header ` +
        '`X-Patch-Validated` is `false` if the patch was made for another file.',
      consumes: ['multipart/form-data'],
      form: PatchForm,
      params: Params,
      response: { 200: Bytes, 400: ErrorSchema, 404: ErrorSchema, 507: ErrorSchema }
    },
    config: { scopes: ['roms.read'] }
  }, async (request, reply) => {
    const { handle, fileName, isValid } = await app.patches.patch(request, request.params.file_id)
    reply.header('x-patch-validated', String(isValid))
    return await app.files.send(request, reply, {
      handle,
      type: 'application/octet-stream',
      cacheControl: 'private, no-store',
      disposition: { type: 'attachment', fileName }
    })
  })
}

export default routes
