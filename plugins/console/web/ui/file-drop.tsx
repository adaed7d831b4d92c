import * as machine from '@zag-js/file-upload'
import { normalizeProps, useMachine } from '@zag-js/preact'
import upload from 'lucide/dist/esm/icons/upload.mjs'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { texts } from '../i18n/language.ts'
import { readDirection } from './direction.ts'
import { Icon } from './icon.tsx'

interface FileDropProps {
  /** Says which files are wanted. */
  label?: string
  /** Media types such as `image/*`; everything without. */
  accept?: readonly string[]
  /** True if several files are taken. */
  isMultiple?: boolean
  isDisabled?: boolean
  onFiles: (files: File[]) => void
  /** Called with files of other types or sizes. */
  onRefused?: (files: File[]) => void
  /** Called with the names of dropped folders, whose files are not taken. */
  onFolders?: (names: string[]) => void
  children?: ComponentChildren
}

const FILES_MAX = 10_000

/** A place for dropped files, with a button that chooses files. */
export function FileDrop (props: FileDropProps) {
  const { label, accept, isMultiple = false, isDisabled = false, onFiles, onRefused, onFolders, children } = props
  const { common } = texts()
  const service = useMachine(machine.machine, {
    id: useId(),
    dir: readDirection(),
    accept: accept === undefined ? undefined : Object.fromEntries(accept.map((type) => [type, []])),
    maxFiles: isMultiple ? FILES_MAX : 1,
    disabled: isDisabled,
    // The caller shows the files, so the machine keeps none and the same file may be chosen again.
    acceptedFiles: [],
    onFileAccept: ({ files }) => { if (files.length > 0) onFiles(files) },
    onFileReject: ({ files }) => { if (files.length > 0) onRefused?.(files.map(({ file }) => file)) }
  })
  const api = machine.connect(service, normalizeProps)
  const reportFolders = ({ dataTransfer }: DragEvent) => {
    const entries = [...dataTransfer?.items ?? []].map((item) => item.webkitGetAsEntry())
    const names = entries.flatMap((entry) => entry?.isDirectory === true ? [entry.name] : [])
    if (names.length > 0 && !isDisabled) onFolders?.(names)
  }
  return (
    <div {...api.getRootProps()} onDropCapture={reportFolders}>
      <div {...api.getDropzoneProps({ disableClick: true })} tabIndex={-1} role='group' aria-label={label ?? common.dropFiles} class='file-drop'>
        <Icon node={upload} />
        <p>{label ?? common.dropFiles}</p>
        <button {...api.getTriggerProps()} class='button'>{common.chooseFiles}</button>
        {children}
        <input {...api.getHiddenInputProps()} type='file' role={undefined} aria-label={common.chooseFiles} />
      </div>
    </div>
  )
}
