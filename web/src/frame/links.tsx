// Links of the component library that the router follows.
import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface Target {
  to: string;
  search?: Record<string, string | undefined>;
  children: ReactNode;
  'aria-label'?: string;
  tabIndex?: number | undefined;
}

/** Addresses are put together at run time from names of resources and fields, which the router's types cannot know. */
export const toSearch = (search: object | undefined) => search as never;

const toProps = ({ to, search }: Target) => ({ to, search: toSearch(search) });

export function ButtonLink({ to, search, ...props }: ButtonProps & Target) {
  return (
    <Button {...props} renderRoot={(root) => <Link {...root} {...toProps({ ...props, to, search })} />} />
  );
}

export function AnchorLink({ to, search, ...props }: AnchorProps & Target & { title?: string | undefined }) {
  return (
    <Anchor {...props} renderRoot={(root) => <Link {...root} {...toProps({ ...props, to, search })} />} />
  );
}
