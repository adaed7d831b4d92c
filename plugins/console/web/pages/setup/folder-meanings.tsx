import help from 'lucide/dist/esm/icons/folder-search.mjs'
import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import type { Platform } from '../../api/platforms.ts'
import type { components } from '../../api/schema.d.ts'
import { texts } from '../../i18n/language.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { Icon } from '../../ui/icon.tsx'
import { tellFailure, tellSuccess } from '../../ui/toast.tsx'

interface FolderMeaningsProps {
  folders: readonly components['schemas']['FoundPlatform'][]
  platforms: readonly Platform[]
}

/** Folders whose names belong to no platform, with the choice of one. */
export function FolderMeanings ({ folders, platforms }: FolderMeaningsProps) {
  const { setup } = texts()
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({})
  const options = platforms.map(({ slug, display_name: name }) => ({ value: slug, label: name, note: slug }))

  async function bind (folder: string, slug: string): Promise<void> {
    await call(api.POST('/api/config/system/platforms', { body: { fs_slug: folder, slug } }))
    setChosen((former) => ({ ...former, [folder]: slug }))
    tellSuccess(setup.bound(folder, options.find(({ value }) => value === slug)?.label ?? slug))
  }

  return (
    <div class='stack'>
      <div>
        <h3>{setup.unknown.title}</h3>
        <p class='soft field-hint'>{setup.unknown.text}</p>
      </div>
      {folders.map(({ fs_slug: folder, rom_count: count }) => (
        <div key={folder} class='folder-unknown'>
          <Icon node={help} />
          <span class='row-text'><strong>{folder}</strong> <span class='faint'>{setup.files(count)}</span></span>
          <Combobox
            label={setup.unknown.choose(folder)} options={options} value={chosen[folder] ?? null}
            onChange={(slug) => { if (slug !== null) bind(folder, slug).catch(tellFailure) }}
          />
        </div>
      ))}
    </div>
  )
}
