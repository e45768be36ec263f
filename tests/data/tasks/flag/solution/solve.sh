echo raised > /srv/flag
