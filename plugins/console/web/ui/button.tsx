import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ComponentChildren } from 'preact'
import type { IconNode } from 'lucide'
import { Icon } from './icon.tsx'

interface Look {
  kind?: 'primary' | 'danger' | 'quiet'
  isSmall?: boolean
  isWide?: boolean
  icon?: IconNode
  children?: ComponentChildren
}

const classOf = ({ kind, isSmall, isWide }: Look, isIcon = false): string => [
  'button', kind && `button-${kind}`, isSmall && 'button-small', isWide && 'button-wide', isIcon && 'button-icon'
].filter(Boolean).join(' ')

interface ButtonProps extends Look, Omit<ButtonHTMLAttributes, keyof Look> {
  /** True while its work runs. */
  isBusy?: boolean
  /** True while a press has no effect, for a button that people press several times. */
  isBlocked?: boolean
}

const refuse = (event: Event): void => { event.preventDefault() }

/** Returns the attributes of a button without effect. Unlike a disabled one it keeps the focus of the keyboard. */
const block = (isBlocked: boolean) => isBlocked ? { 'aria-disabled': true, onClick: refuse } : {}

/** A button; while it is busy it shows that and cannot be pressed again. */
export function Button (props: ButtonProps) {
  const { kind, isSmall, isWide, icon, isBusy = false, isBlocked = false, children, type = 'button', ...rest } = props
  return (
    <button
      {...rest} {...block(isBusy || isBlocked)} type={type} aria-busy={isBusy}
      class={classOf({ kind, isSmall, isWide })}
    >
      {isBusy ? <span class='spinner' /> : icon && <Icon node={icon} />}
      {children}
    </button>
  )
}

type IconButtonProps = Omit<ButtonProps, 'children' | 'icon'> & { icon: IconNode, label: string }

/** A button with only an icon, whose label is its name and its tooltip. */
export function IconButton (props: IconButtonProps) {
  const { kind = 'quiet', isSmall, icon, label, isBusy = false, isBlocked = false, type = 'button', ...rest } = props
  return (
    <button
      {...rest} {...block(isBusy || isBlocked)} type={type} aria-busy={isBusy} aria-label={label} title={label}
      class={classOf({ kind, isSmall }, true)}
    >
      {isBusy ? <span class='spinner' /> : <Icon node={icon} />}
    </button>
  )
}

type LinkButtonProps = Look & Omit<AnchorHTMLAttributes, keyof Look | 'role'> & { href: string }

/** A link that looks like a button. Its address is relative to the start page. */
export function LinkButton ({ kind, isSmall, isWide, icon, children, ...rest }: LinkButtonProps) {
  return <a {...rest} class={classOf({ kind, isSmall, isWide })}>{icon && <Icon node={icon} />}{children}</a>
}
