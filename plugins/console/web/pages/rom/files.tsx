import chevron from 'lucide/dist/esm/icons/chevron-down.mjs'
import copy from 'lucide/dist/esm/icons/copy.mjs'
import download from 'lucide/dist/esm/icons/download.mjs'
import unplug from 'lucide/dist/esm/icons/unplug.mjs'
import { useState } from 'preact/hooks'
import { format, texts } from '../../i18n/language.ts'
import { IconButton, LinkButton } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Badge, Empty } from '../../ui/state.tsx'
import { Icon } from '../../ui/icon.tsx'
import { tellFailure, tellSuccess } from '../../ui/toast.tsx'
import { type RomFile, groupFiles, listHashes } from './file-groups.ts'
import { Section } from './section.tsx'
import type { DetailedRom } from './rom-data.ts'

/** Number of files from which a search helps. */
const SEARCH_MIN = 12

function Hash ({ name, value }: { name: string, value: string }) {
  const { files: words } = texts().rom
  const copyHash = () => {
    navigator.clipboard
      .writeText(value)
      .then(() => { tellSuccess(words.copied) })
      .catch(tellFailure)
  }
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <code>{value}</code>
        {window.isSecureContext && <IconButton isSmall icon={copy} label={words.copy(name)} onClick={copyHash} />}
      </dd>
    </div>
  )
}

/** One file with its download, and its hashes on request. */
function FileRow ({ file, folder }: { file: RomFile, folder: string }) {
  const { files: words } = texts().rom
  const { bytes, dateTime } = format()
  const [isOpen, setOpen] = useState(false)
  const { id, file_name: name, full_path: path } = file
  const shown = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : name
  const members = file.archive_members ?? []
  return (
    <li class='rom-file'>
      <div class='rom-row'>
        <span class='rom-row-text'>
          <strong>{shown}</strong>
          <span class='faint number'>
            {bytes(file.file_size_bytes)}
            {members.length > 1 && ` · ${words.members(members.length)}`}
          </span>
        </span>
        <span class='rom-file-open' data-open={isOpen ? '' : undefined}>
          <IconButton
            icon={chevron}
            label={words.details(name)}
            aria-expanded={isOpen}
            onClick={() => { setOpen(!isOpen) }}
          />
        </span>
        <LinkButton
          kind='quiet'
          target='_top'
          href={`api/roms/${id}/files/content/${encodeURIComponent(name)}`}
          aria-label={words.download(shown)}
        >
          <Icon node={download} />
        </LinkButton>
      </div>
      {isOpen && (
        <dl class='rom-hashes'>
          {listHashes(file).map(([hash, value]) => <Hash key={hash} name={hash} value={value} />)}
          <div>
            <dt>{words.path}</dt>
            <dd><code>{path}</code></dd>
          </div>
          <div>
            <dt>{words.modified}</dt>
            <dd>{dateTime(file.last_modified)}</dd>
          </div>
        </dl>
      )}
    </li>
  )
}

/** The files of a game by kind, with their hashes. */
export function Files ({ rom }: { rom: DetailedRom }) {
  const { files: words, dump } = texts().rom
  const [search, setSearch] = useState('')
  const { files, full_path: folder, dump_status: status } = rom
  if (files.length === 0) return <Empty icon={unplug} title={texts().rom.tabs.files} text={words.missing} />
  const groups = groupFiles(files, search)
  return (
    <div class='rom-overview'>
      {files.length >= SEARCH_MIN && (
        <TextField label={words.filter} type='search' value={search} onInput={setSearch} />
      )}
      {groups.length === 0 && <p class='soft' role='status'>{words.noneFound}</p>}
      {groups.map(({ category, files: group }, index) => (
        <Section
          key={category}
          title={words.categories[category]}
          note={`${words.count(group.length)} · ${format().bytes(group.reduce((sum, { file_size_bytes: size }) => sum + size, 0))}`}
          action={
            index === 0 &&
            status !== null && (
              <Badge kind={status === 'verified' ? 'success' : status === 'bad' ? 'danger' : undefined}>
                {dump[status]}
              </Badge>
            )
          }
        >
          <ul class='rom-rows rom-dense'>
            {group.map((file) => (
              <FileRow key={file.id} file={file} folder={rom.has_simple_single_file ? rom.fs_path : folder} />
            ))}
          </ul>
        </Section>
      ))}
    </div>
  )
}
