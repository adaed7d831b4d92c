import type { IconNode } from 'lucide'
import info from 'lucide/dist/esm/icons/info.mjs'
import alert from 'lucide/dist/esm/icons/circle-alert.mjs'
import warning from 'lucide/dist/esm/icons/triangle-alert.mjs'
import type { ComponentChildren } from 'preact'
import type { Resource } from '../api/cache.ts'
import type { Failure } from '../api/failure.ts'
import { texts } from '../i18n/language.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'

interface EmptyProps {
  icon: IconNode
  title: string
  text: string
  /** True for a whole page, whose title is the first heading. */
  isPage?: boolean
  children?: ComponentChildren
}

/** An empty list, or an error in place of a page: says what is the case and what to do. */
export const Empty = ({ icon, title, text, isPage = false, children }: EmptyProps) => (
  <div class='empty'>
    <Icon node={icon} />
    {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
    <p class='soft'>{text}</p>
    {children !== undefined && <div class='empty-actions'>{children}</div>}
  </div>
)

/** A shape in place of content that loads. */
export const Skeleton = ({ width = '100%', height = '1em' }: { width?: string, height?: string }) => (
  <div class='skeleton' style={{ inlineSize: width, blockSize: height }} aria-hidden />
)

const NOTICES = { info, failure: alert, warning }

/** A message within a page. A failure is announced at once. */
export const Notice = ({ kind = 'info', children }: { kind?: keyof typeof NOTICES, children: ComponentChildren }) => (
  <div class={`notice notice-${kind}`} role={kind === 'failure' ? 'alert' : undefined}>
    <Icon node={NOTICES[kind]} /><div>{children}</div>
  </div>
)

type BadgeKind = 'accent' | 'success' | 'warning' | 'danger'
export const Badge = ({ kind, children }: { kind?: BadgeKind, children: ComponentChildren }) => (
  <span class={kind === undefined ? 'badge' : `badge badge-${kind}`}>{children}</span>
)

/** The failure of a whole page, with a way to try again. */
export const Failed = ({ failure, onRetry }: { failure: Failure, onRetry?: () => void }) => {
  const { common, errors } = texts()
  return (
    <Empty icon={warning} title={errors.failed.title} text={failure.message || errors.failed.text}>
      {onRetry && <Button onClick={onRetry}>{common.retry}</Button>}
    </Empty>
  )
}

interface LoadedProps<Data> {
  resource: Resource<Data>
  /** Shown until the first data arrives. */
  skeleton: ComponentChildren
  children: (data: Data) => ComponentChildren
}

/** Shows a resource: a skeleton first, then its data, or its failure if there is no data. */
export function Loaded<Data> ({ resource, skeleton, children }: LoadedProps<Data>) {
  const { data, failure } = resource
  if (data.value !== undefined) return <>{children(data.value)}</>
  return failure.value === null ? <>{skeleton}</> : <Failed failure={failure.value} />
}
