import { useState } from 'preact/hooks'
import { api, receive } from '../../api/client.ts'
import { texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { useForm } from '../../ui/form.ts'
import { Notice } from '../../ui/state.tsx'
import { tellSuccess } from '../../ui/toast.tsx'
import { listPatchable } from './file-groups.ts'
import { saveFile } from './save-file.ts'
import type { DetailedRom } from './rom-data.ts'

/** Patches a file on the server. @returns the patched copy, and whether the patch was made for this file */
async function applyPatch (
  fileId: number,
  form: FormData
): Promise<{ content: Blob; name: string | null; isValid: boolean }> {
  const { data, response } = await receive(api.POST('/api/roms/{file_id}/patch', {
    params: { path: { file_id: fileId } },
    body: {},
    bodySerializer: () => form,
    parseAs: 'blob'
  }))
  const name = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get('content-disposition') ?? '')?.[1]
  return {
    content: data,
    name: name === undefined ? null : decodeURIComponent(name),
    isValid: response.headers.get('x-patch-validated') !== 'false'
  }
}

const OWN = 'own'

function PatchForm ({ rom, onClose }: { rom: DetailedRom, onClose: () => void }) {
  const { patch: words } = texts().rom
  const patches = rom.files.filter(({ category }) => category === 'patch')
  const bases = listPatchable(rom.files)
  const [own, setOwn] = useState<File | null>(null)
  const [isMissing, setMissing] = useState(false)
  const form = useForm(
    { base: String(bases[0]?.id ?? ''), patch: String(patches[0]?.id ?? OWN) },
    async ({ base, patch }) => {
      const data = new FormData()
      if (patch !== OWN) data.append('patch_file_id', patch)
      else if (own === null) return setMissing(true)
      else data.append('patch_file', own)
      const { content, name, isValid } = await applyPatch(Number(base), data)
      saveFile(content, name ?? rom.fs_name)
      if (!isValid) tellSuccess(words.mismatch)
      onClose()
    }
  )
  const named = (files: DetailedRom['files']) =>
    Object.fromEntries(files.map(({ id, file_name: name }) => [String(id), name]))
  return (
    <form class='stack' onSubmit={(event) => { form.onSubmit(event) }}>
      <p class='soft'>{words.text}</p>
      {form.failure !== null && <Notice kind='failure'>{form.failure.message}</Notice>}
      {bases.length > 1 && (
        <Select
          label={words.base}
          value={form.values.base}
          options={named(bases)}
          onChange={(base) => { form.set('base', base) }}
        />
      )}
      {patches.length > 0 && (
        <Select
          label={words.patch}
          value={form.values.patch}
          options={{ ...named(patches), [OWN]: words.own }}
          onChange={(patch) => { form.set('patch', patch) }}
        />
      )}
      {form.values.patch === OWN && (
        <Field label={words.file} error={isMissing && own === null ? words.noFile : undefined}>
          {(control) => (
            <input
              {...control}
              class='input'
              type='file'
              accept='.ips,.ups,.bps,.ppf,.xdelta,.vcdiff,.aps,.rup,.dat'
              onChange={({ currentTarget }) => { setOwn(currentTarget.files?.[0] ?? null) }}
            />
          )}
        </Field>
      )}
      <div>
        <Button kind='primary' type='submit' isBusy={form.isBusy}>{words.apply}</Button>
      </div>
    </form>
  )
}

/** Downloads a patched copy of a file of a game. */
export const PatchDialog = ({ rom, isOpen, onClose }: { rom: DetailedRom, isOpen: boolean, onClose: () => void }) => (
  <Dialog title={texts().rom.patch.title} isOpen={isOpen} onClose={onClose}>
    <PatchForm rom={rom} onClose={onClose} />
  </Dialog>
)
